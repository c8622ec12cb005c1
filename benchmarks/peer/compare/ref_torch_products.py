#!/usr/bin/python3
"""Reference peer: one agent's gradient and Hessian-vector product of a deep network, in PyTorch autograd.

The loss is the mean cross-entropy of ten classes plus a decay of all weights, of random pixels.
  cold: the gradient's graph is built for each product, at a new point; warm: it stays, and only the second sweep runs again.

  export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
  /usr/bin/python3 ref_torch_products.py --network 784-256-128-10 --batch 256 --dtype f32
"""
import argparse, json, os, time
os.environ.setdefault("OMP_NUM_THREADS", "1"); os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import torch
import torch.nn.functional as F

p = argparse.ArgumentParser(); a = p.add_argument
a("--network", required=True)            # lenet, or the sizes of dense layers with ReLU
a("--batch", type=int, default=256)
a("--dtype", choices=["f32", "f64"], default="f32")
a("--seconds", type=float, default=1)    # of each of three measurements
a("--out", default="")
o = p.parse_args()
torch.set_num_threads(1); torch.manual_seed(1)
torch.set_default_dtype(torch.float32 if o.dtype == "f32" else torch.float64)

def dense(h, *w):
    for i in range(0, len(w), 2): h = F.linear(F.relu(h) if i else h, w[i], w[i + 1])
    return h
def lenet(h, *w):                        # 5x5x8 and 5x5x16, each with ReLU and max pooling of 2x2, then 64 units
    h = h.view(-1, 1, 28, 28)
    for i in (0, 2): h = F.max_pool2d(F.relu(F.conv2d(h, w[i], w[i + 1])), 2)
    return dense(h.flatten(1), *w[4:])

if o.network == "lenet": outputs, shapes = lenet, [(8, 1, 5, 5), (8,), (16, 8, 5, 5), (16,), (64, 256), (64,), (10, 64), (10,)]
else:
    sizes = [int(s) for s in o.network.split("-")]
    outputs, shapes = dense, [s for i, n in zip(sizes, sizes[1:]) for s in ((n, i), (n,))]
count = sum(torch.Size(s).numel() for s in shapes)
X, T = torch.rand(o.batch, 784), torch.randint(10, (o.batch,))

def loss(y):
    parts = torch.split(y, [torch.Size(s).numel() for s in shapes])
    return F.cross_entropy(outputs(X, *(v.view(s) for v, s in zip(parts, shapes))), T) + 0.01 * (y * y).sum()

y = (0.05 * torch.randn(count)).requires_grad_()
v = torch.randn(count)
def gradient(): return torch.autograd.grad(loss(y), y)[0]
def cold():
    g, = torch.autograd.grad(loss(y), y, create_graph=True)
    return torch.autograd.grad(g @ v, y)[0]
kept, = torch.autograd.grad(loss(y), y, create_graph=True)
def warm(): return torch.autograd.grad(kept, y, v, retain_graph=True)[0]

def ms(f):
    f(); times, end = [], time.perf_counter() + o.seconds
    while time.perf_counter() < end or len(times) < 3:
        start = time.process_time(); f(); times.append(1e3 * (time.process_time() - start))
    return sorted(times)[len(times) // 2]

text = json.dumps({"Gradient": ms(gradient), "Cold": ms(cold), "Warm": ms(warm)})
if o.out: open(o.out, "w").write(text)
else: print(text)
