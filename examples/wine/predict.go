package main

import (
	"dsbo/experiment"
	"dsbo/models"
	"dsbo/tables/modelfile"
)

// Layers says what the weights do with the measurements, so that others can: a program that
// predicts knows no losses.
func (m ridge) Layers() []models.Layer { return []models.Layer{{In: m.features, Out: 1}} }

// Finish keeps the model for the verb predict and for other programs.
func (c *cellars) Finish(f experiment.FinishedRun) error {
	m, err := modelfile.New(c.recipe, ridge{len(c.recipe.Features())}, f.Y, modelfile.Origin{Program: "wine"})
	if err != nil || !f.Writes {
		return err
	}
	return m.Write(f.Folder, "")
}
