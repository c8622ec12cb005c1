package kernel

// positive returns y where x is above 0, else 0.
func positive[T Float](x, y T) T {
	if x > 0 {
		return y
	}
	return 0
}

func dotSumGo[T Float](x, y []T) T {
	y = y[:len(x)]
	var s T
	for i, v := range x {
		s += T(v * y[i])
	}
	return s
}

func sumGo[T Float](x []T) T {
	var s T
	for _, v := range x {
		s += v
	}
	return s
}
