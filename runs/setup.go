package runs

import (
	"encoding/json"

	"dsbo"
	"dsbo/internal/wording"
)

// SetupFile is what the agents of a run found together as they loaded their data, where they did.
const SetupFile = "setup.json"

// A Setup is setup.json: sums and texts of all agents, which a resuming process would compute
// again. Every agent of the run knows them; only an agent's texts are of that agent alone.
type Setup struct {
	Found []Found      `json:"found"` // in the order in which they were found
	Sent  dsbo.Traffic `json:"sent"`  // what all agents have sent for them
	// Of is a digest of the data and the settings of a run in one process that found structures of
	// penalties before the iterations; "": other runs check this by messages, or compute it again.
	Of string `json:"of,omitempty"`
}

// Found is the result of one exchange: sums, or the texts of all agents.
type Found struct {
	Sum   []float64 `json:"sum,omitempty"`
	Texts []string  `json:"texts,omitempty"`
}

// WriteSetup writes setup.json.
func (f Folder) WriteSetup(s Setup) error {
	data, err := json.Marshal(s) // in one line: numbers by the thousand
	if err != nil {
		return err
	}
	return f.WriteFile(SetupFile, append(wording.JSON(data), '\n'))
}

// ReadSetup reads setup.json.
func (f Folder) ReadSetup() (Setup, error) { return readFile[Setup](f, SetupFile) }
