// Reference peer: one agent's gradient and Hessian-vector product in C++ with libtorch's autograd, without Python.
//
// The loss is the mean cross-entropy of ten classes of random pictures of 28x28 numbers in float32.
//   cold: the gradient's graph is built for each product, at a new point; warm: it stays, and only the second sweep runs again.
//
//   c++ -O2 -std=c++17 -I/usr/include/torch/csrc/api/include products.cpp -ltorch -ltorch_cpu -lc10 -o peer
//   OMP_NUM_THREADS=1 ./peer --network lenet --batch 256
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <torch/torch.h>

using torch::Tensor;
using Tensors = std::vector<Tensor>;

struct Network {
  std::vector<std::vector<int64_t>> shapes;                    // of the parameters
  std::function<Tensor(const Tensor &, const Tensors &)> scores;  // of pictures, a row each
};

Network softmax() {
  return {{{10, 784}}, [](const Tensor &x, const Tensors &w) { return x.mm(w[0].t()); }};
}

// mlp has two hidden layers of ReLU.
Network mlp() {
  return {{{256, 784}, {256}, {128, 256}, {128}, {10, 128}, {10}}, [](const Tensor &x, const Tensors &w) {
            auto h = torch::relu(torch::linear(x, w[0], w[1]));
            h = torch::relu(torch::linear(h, w[2], w[3]));
            return torch::linear(h, w[4], w[5]);
          }};
}

// lenet has convolutions 5x5x6 (padded) and 5x5x16, each with ReLU and max pooling of 2x2, then 84 units.
Network lenet() {
  return {{{6, 1, 5, 5}, {6}, {16, 6, 5, 5}, {16}, {84, 400}, {84}, {10, 84}, {10}},
          [](const Tensor &x, const Tensors &w) {
            auto h = torch::max_pool2d(torch::relu(torch::conv2d(x.view({-1, 1, 28, 28}), w[0], w[1], 1, 2)), 2);
            h = torch::max_pool2d(torch::relu(torch::conv2d(h, w[2], w[3])), 2);
            h = torch::relu(torch::linear(h.flatten(1), w[4], w[5]));
            return torch::linear(h, w[6], w[7]);
          }};
}

// transformer reads a picture's rows as a sequence: two blocks of width 64, 4 heads, layer norms before, GELU of 128 units.
Network transformer() {
  const int64_t length = 28, width = 64, heads = 4, units = 128;
  Network net{{{width, 28}, {width}, {length, width}}, nullptr};
  const std::vector<std::vector<int64_t>> block = {
      {width}, {width}, {width, width}, {width, width}, {width, width}, {width, width},
      {width}, {width}, {units, width}, {units}, {width, units}, {width}};
  for (int b = 0; b < 2; b++) net.shapes.insert(net.shapes.end(), block.begin(), block.end());
  net.shapes.push_back({10, width});
  net.shapes.push_back({10});
  net.scores = [=](const Tensor &x, const Tensors &w) {
    const auto split = [&](const Tensor &z) {
      return z.reshape({-1, length, heads, width / heads}).transpose(1, 2);
    };
    auto h = torch::linear(x.view({-1, length, 28}), w[0], w[1]) + w[2];
    size_t k = 3;
    for (int b = 0; b < 2; b++, k += 12) {
      auto a = torch::layer_norm(h, {width}, w[k], w[k + 1]);
      const auto q = split(a.matmul(w[k + 2].t())), key = split(a.matmul(w[k + 3].t())),
                 v = split(a.matmul(w[k + 4].t()));
      const auto weights = torch::softmax(q.matmul(key.transpose(2, 3)) / std::sqrt(double(width) / heads), -1);
      h = h + weights.matmul(v).transpose(1, 2).reshape({-1, length, width}).matmul(w[k + 5].t());
      a = torch::layer_norm(h, {width}, w[k + 6], w[k + 7]);
      h = h + torch::linear(torch::gelu(torch::linear(a, w[k + 8], w[k + 9])), w[k + 10], w[k + 11]);
    }
    return torch::linear(h.mean(1), w[k], w[k + 1]);
  };
  return net;
}

// median_ms calls f for a number of seconds, and returns the median of the processor time of a call.
double median_ms(double seconds, const std::function<void()> &f) {
  using clock = std::chrono::steady_clock;
  std::vector<double> times;
  f();
  const auto end = clock::now() + std::chrono::duration<double>(seconds);
  while (clock::now() < end || times.size() < 3) {
    timespec from, to;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    f();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    times.push_back(1e3 * (to.tv_sec - from.tv_sec) + 1e-6 * (to.tv_nsec - from.tv_nsec));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

int main(int argc, char **argv) {
  std::map<std::string, std::string> flag = {{"--network", ""}, {"--batch", "256"}, {"--seconds", "1"}, {"--out", ""}};
  for (int i = 1; i + 1 < argc; i += 2) flag[argv[i]] = argv[i + 1];
  const std::map<std::string, Network> networks = {
      {"softmax", softmax()}, {"mlp", mlp()}, {"lenet", lenet()}, {"transformer", transformer()}};
  const auto net = networks.at(flag["--network"]);
  const int64_t batch = std::stoll(flag["--batch"]);
  at::set_num_threads(1);
  torch::manual_seed(1);

  const auto x = torch::rand({batch, 784}), t = torch::randint(10, {batch});
  Tensors w, v;
  for (const auto &shape : net.shapes) {
    w.push_back((0.05 * torch::randn(shape)).requires_grad_());
    v.push_back(torch::randn(shape));
  }
  const auto loss = [&] { return torch::nll_loss(torch::log_softmax(net.scores(x, w), 1), t); };
  const auto gradient = [&](bool graph) { return torch::autograd::grad({loss()}, w, {}, graph, graph); };
  const auto product = [&](const Tensors &g, bool keep) { torch::autograd::grad(g, w, v, keep, false, true); };

  const double seconds = std::stod(flag["--seconds"]);
  const double g = median_ms(seconds, [&] { gradient(false); });
  const double cold = median_ms(seconds, [&] { product(gradient(true), false); });
  const auto kept = gradient(true);
  const double warm = median_ms(seconds, [&] { product(kept, true); });

  std::ofstream file(flag["--out"]);
  (flag["--out"].empty() ? std::cout : file) << "{\"Gradient\": " << g << ", \"Cold\": " << cold << ", \"Warm\": " << warm
                                            << "}" << std::endl;
}
