// Package files reads and writes files, and trusts nothing that they announce of themselves.
//
// # Run folders
//
// [FS] is the few operations that run folders need, on the system's file system ([System]) or on a
// simulated one in memory that models crashes. Paths belong to the system unless a folder above
// them belongs to another file system ([Mount]). On these operations are built [Write], which
// replaces a file atomically, and [Lock], which keeps other processes out of a folder.
//
// # Data
//
// An [Input] is the content of a file of data, which may be compressed, and an [Error] its fault
// and place. Beside it are small formats: arrays (NumPy's .npy, IDX), tensors, and strict JSON.
package files
