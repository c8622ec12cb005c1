package main

import "context"

func higp(ctx context.Context, l *lab) error          { return nil }
func loops(ctx context.Context, l *lab) error         { return nil }
func graphs(ctx context.Context, l *lab) error        { return nil }
func mismatch(ctx context.Context, l *lab) error      { return nil }
func table1(ctx context.Context, l *lab) error        { return nil }
func compositional(ctx context.Context, l *lab) error { return nil }
func methods(ctx context.Context, l *lab) error       { return nil }
func hessian(ctx context.Context, l *lab) error       { return nil }
