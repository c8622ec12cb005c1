package data

// ClassMeans returns the mean training example of each class, one after the other, over the shards
// that are here: Classes·Features numbers, 0 for a class without examples.
func (t Task) ClassMeans() []float64 {
	means, counts := make([]float64, t.Classes*t.Features), make([]float64, t.Classes)
	for _, s := range t.Shards {
		labels, ok := s.Train.labels()
		if !ok {
			continue
		}
		for i, k := range labels {
			counts[k]++
			for j, row := 0, means[k*t.Features:][:t.Features]; j < len(row); j++ {
				row[j] += s.Train.X.At(i, j)
			}
		}
	}
	for k, n := range counts {
		for j := range t.Features {
			means[k*t.Features+j] /= max(n, 1)
		}
	}
	return means
}
