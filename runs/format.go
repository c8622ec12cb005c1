package runs

import "dsbo"

// Format is the number of the format of run folders that this program writes and resumes. It reads
// formats of lower numbers too, down to 0, the number of folders without one.
const Format = 1

// checkFormat returns an error if this program does not read the folder's format.
func checkFormat(f Folder, format int) error {
	if format <= Format {
		return nil
	}
	return dsbo.ConfigErrorf(
		"%s has format %d, that of a newer version of the program; this one reads up to %d", f, format, Format)
}

// CheckResumable returns an error that matches [dsbo.ErrConfig] if the run in the folder cannot be
// resumed, because a program with another format began it, or because a listed file has changed.
func (f Folder) CheckResumable() error {
	c, err := readFile[struct{ Format int }](f, ConfigFile)
	if err != nil {
		return err
	}
	if err := checkFormat(f, c.Format); err != nil {
		return err
	}
	if c.Format < Format {
		return dsbo.ConfigErrorf(
			"the run in %s was begun by an earlier version of the program (format %d, here %d): "+
				"that version can resume it, -force begins it anew, and the verb report shows it as it is", f,
			c.Format, Format)
	}
	return f.Verify()
}
