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
a("--network", required=True)            # lenet, colours, recurrent or transformer, see below, or the sizes of dense layers with ReLU
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
def lenet(h, *w):                        # 5x5x8 and 5x5x16 with stride 2, and a dense layer
    h = F.relu(F.conv2d(h.view(-1, 1, 28, 28), w[0], w[1], stride=2))
    return F.linear(F.relu(F.conv2d(h, w[2], w[3], stride=2)).flatten(1), w[4], w[5])
def colours(h, *w):                      # 3x3x32 and 3x3x64 with padding, each with batch normalization, ReLU and pooling by 2x2
    h = h.view(-1, 3, 32, 32)
    for i in 0, 4: h = F.max_pool2d(F.relu(F.batch_norm(F.conv2d(h, w[i], w[i + 1], padding=1), None, None, w[i + 2], w[i + 3], True)), 2)
    return F.linear(h.flatten(1), w[8], w[9])
def recurrent(h, *w):                    # a gated recurrent unit of 128 over the 28 rows of a picture
    s = torch.zeros(len(h), 128)
    for row in h.view(-1, 28, 28).unbind(1):
        (r, u, c), (hr, hu, hc) = F.linear(row, w[0], w[1]).chunk(3, 1), F.linear(s, w[2], w[3]).chunk(3, 1)
        u = torch.sigmoid(u + hu)
        s = (1 - u) * torch.tanh(c + torch.sigmoid(r + hr) * hc) + u * s
    return F.linear(s, w[4], w[5])
def transformer(h, *w):                  # the rows are a sequence: attention of four heads and 256 hidden units with GELU, width 64
    heads = lambda m: m.view(-1, 28, 4, 16).transpose(1, 2)
    h = F.linear(h.view(-1, 28, 28), w[0], w[1]) + w[2]
    n = F.layer_norm(h, (64,), w[3], w[4])
    q, k, v = (heads(n @ m.t()) for m in w[5:8])
    h = h + (torch.softmax(q @ k.transpose(2, 3) / 4, 3) @ v).transpose(1, 2).reshape(-1, 28, 64) @ w[8].t()
    h = h + F.linear(F.gelu(F.linear(F.layer_norm(h, (64,), w[9], w[10]), w[11], w[12])), w[13], w[14])
    return F.linear(h.flatten(1), w[15], w[16])

networks = {
    "lenet": (lenet, [(8, 1, 5, 5), (8,), (16, 8, 5, 5), (16,), (10, 256), (10,)]),
    "colours": (colours, [(32, 3, 3, 3), (32,), (32,), (32,), (64, 32, 3, 3), (64,), (64,), (64,), (10, 4096), (10,)]),
    "recurrent": (recurrent, [(384, 28), (384,), (384, 128), (384,), (10, 128), (10,)]),
    "transformer": (transformer, [(64, 28), (64,), (28, 64), (64,), (64,), (64, 64), (64, 64), (64, 64), (64, 64), (64,), (64,), (256, 64), (256,), (64, 256), (64,),
                                  (10, 1792), (10,)]),
}
if o.network in networks: outputs, shapes = networks[o.network]
else:
    sizes = [int(s) for s in o.network.split("-")]
    outputs, shapes = dense, [s for i, n in zip(sizes, sizes[1:]) for s in ((n, i), (n,))]
count = sum(torch.Size(s).numel() for s in shapes)
X, T = torch.rand(o.batch, 3072 if o.network == "colours" else 784), torch.randint(10, (o.batch,))

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
