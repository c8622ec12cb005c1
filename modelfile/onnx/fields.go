package onnx

// Numbers of the fields of ONNX's messages, by the names of the messages and fields in onnx.proto.
const (
	modelIRVersion = 1
	modelProducer  = 2
	modelVersion   = 3
	modelDoc       = 6
	modelGraph     = 7
	modelOpset     = 8
	modelMetadata  = 14

	opsetDomain  = 1
	opsetVersion = 2

	textKey   = 1
	textValue = 2

	graphNode     = 1
	graphName     = 2
	graphConstant = 5 // initializer
	graphInput    = 11
	graphOutput   = 12

	nodeInput     = 1
	nodeOutput    = 2
	nodeName      = 3
	nodeOp        = 4
	nodeAttribute = 5
	nodeDomain    = 7

	attributeName  = 1
	attributeInt   = 3
	attributeInts  = 8
	attributeWords = 9 // strings
	attributeType  = 20

	typeInt   = 2 // values of attributeType
	typeInts  = 7
	typeWords = 8

	tensorDims = 1
	tensorType = 2
	tensorName = 8
	tensorRaw  = 9

	valueName  = 1
	valueType  = 2
	typeTensor = 1 // of the message that valueType holds
	elemType   = 1 // of the message that typeTensor holds
	elemShape  = 2
	shapeDim   = 1
	dimValue   = 1
	dimParam   = 2
)
