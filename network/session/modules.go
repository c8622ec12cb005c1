//go:build modules

package session

// Gorgonia requires a version of google.golang.org/genproto that still holds the packages which
// gRPC takes from the module google.golang.org/genproto/googleapis/rpc: a module that imports
// packages of both finds each twice. The import, which no build compiles, keeps a later version of
// genproto in go.mod, for other modules too.
import _ "google.golang.org/genproto/protobuf/field_mask"
