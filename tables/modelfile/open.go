package modelfile

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/runs"
)

// Open reads the model of a run folder or of a model.json. Errors match [dsbo.ErrConfig].
func Open(path string) (*Model, error) {
	info, err := files.Stat(path)
	if err != nil {
		return nil, dsbo.ConfigErrorf("model: %w", err)
	}
	if info.IsDir() {
		file := filepath.Join(path, runs.ModelFile)
		if _, err := files.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil, dsbo.ConfigErrorf(
				"%s has no %s: it must be the folder of a run of tables that has finished", path, runs.ModelFile)
		}
		return Read(file)
	}
	data, err := runs.Folder(filepath.Dir(path)).ReadFile(filepath.Base(path))
	if err != nil {
		return nil, dsbo.ConfigErrorf("model: %w", err)
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return Read(path)
	}
	return nil, dsbo.ConfigErrorf(
		"%s: a model must be the %s that dsbo tune leaves beside its other files, or its folder",
		path, runs.ModelFile)
}
