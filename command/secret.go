package command

// secretSuffix ends the name of the file beside an agent's run folder in which earlier versions had
// random bytes of masks.
const secretSuffix = ".key"
