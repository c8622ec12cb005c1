package dsbo_test

// limits are the most that there may be under each rule of house_test.go, and after it where we are
// on the way to. They only go down.
var limits = map[rule]int{
	wideCode:     0,
	wideComments: 0,
	longFiles:    0,
	longFuncs:    0,

	thatOf:     20,
	soMany:     0,
	bareVerbs:  0,
	otherNames: 0,

	bareFields:  0,
	mostMethods: 40,

	topFolders:      17,
	packages:        50,
	internalFolders: 7,
}

// budgets are by folder of the root the most tokens that its code may have, and its tests. They
// only go down: a commit that needs more raises one, and its message says for what. One that is
// further above its count than slack is to be lowered, so that what is saved stays saved.
var budgets = map[string]size{
	".":          {1_441, 8_689},
	"ad":         {94_515, 125_702},
	"algo":       {50_681, 36_658},
	"benchmarks": {18_707, 13_885},
	"cmd":        {88, 0},
	"command":    {26_565, 53_529},
	"data":       {11_540, 16_901},
	"examples":   {6_544, 1_898},
	"experiment": {114_328, 149_722},
	"internal":   {77_116, 50_463},
	"models":     {46_488, 55_287},
	"network":    {93_180, 89_146},
	"runs":       {36_954, 45_568},
	"tables":     {67_166, 79_163},
	"tools":      {1_843, 2_185},
	"train":      {35_208, 54_305},
}

// slack is the share of a budget that may be unused.
const slack = 0.02
