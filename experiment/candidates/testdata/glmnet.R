# glmnet's solutions for TestGlmnet: Rscript glmnet.R > glmnet.json
suppressMessages({library(glmnet); library(survival)})
set.seed(7)
n <- 72; d <- 7
site <- rep(1:3, c(30, 24, 18))
fold <- rep(1:3, n / 3)                       # alike at all sites
level <- rnorm(n)
x <- sapply(1:d, function(j) round((rnorm(n) + level) * 2^(j - 4) + j, 3))
x[, 2] <- rbinom(n, 1, 0.3)
x[, 7] <- 5                                   # constant
o <- drop(scale(x[, 1:6]) %*% c(1, -0.8, 0.5, 0, 0, 0.3))
y <- o + rnorm(n)
targets <- list(
  gaussian = round((y - mean(y)) / sqrt(mean((y - mean(y))^2)), 12),
  binomial = as.integer(o + rnorm(n) > 0 & site < 3),                       # a class is absent at a site
  multinomial = as.integer(cut(y + rnorm(n), c(-Inf, -1, 0.8, Inf))) - 1L,
  poisson = rpois(n, exp(0.5 * o)),
  cox = round(rexp(n, exp(0.4 * o)) + 0.001, 6) * ifelse(runif(n) < 0.3, -1, 1))  # negative: lost sight of
glmnet.control(fdev = 0, devmax = 1, mxitnr = 1000)
tight <- list(thresh = 1e-16, maxit = 1e7)
num <- function(v) paste0("[", paste(sprintf("%.12g", v), collapse = ","), "]")
cases <- c()
for (family in names(targets)) for (alpha in c(1, 0.4)) {
  t <- targets[[family]]
  if (family == "cox") t <- Surv(abs(t), t > 0)   # one stratum: glmnet ends early with more
  fit <- function(...) do.call(glmnet, c(list(x, t, family = family, alpha = alpha, ...), tight))
  first <- fit()$lambda[1]
  lambda <- first * c(1, 0.6, 0.3, 0.1, 0.02)
  f <- fit(lambda = lambda)
  coefs <- sapply(lambda[3:5], function(l) {
    k <- coef(f, s = l)
    if (is.list(k)) unlist(lapply(k, as.numeric)) else as.numeric(k)
  })
  cv <- c()                                   # cv.glmnet's loss, whose probabilities are cut at 1e-5
  if (family != "cox") cv <- rowMeans(sapply(1:3, function(k) {
    out <- fold == k
    part <- do.call(glmnet, c(list(x[!out, ], t[!out], family = family, alpha = alpha, lambda = lambda), tight))
    p <- predict(part, x[out, ], s = lambda[3:5], type = "response")
    truth <- t[out]
    colMeans(switch(family,
      gaussian = (p - truth)^2 / 2,
      binomial = -log(truth * p + (1 - truth) * (1 - p)),
      multinomial = -log(sapply(1:3, function(l) p[cbind(seq_along(truth), truth + 1, l)])),
      poisson = p - truth + truth * (log(pmax(truth, 1)) - log(p))))
  }))
  cases <- c(cases, sprintf('{"family":"%s","alpha":%g,"first":%.12g,"lambda":%s,"coef":[%s],"loss":%s}', family,
    alpha, first, num(lambda[3:5]), paste(apply(coefs, 2, num), collapse = ","), num(cv)))
}
cat(sprintf('{"x":[%s],\n', paste(apply(x, 1, num), collapse = ",\n")))
for (family in names(targets)) cat(sprintf('"%s":%s,\n', family, num(targets[[family]])))
cat(sprintf('"cases":[\n%s\n]}\n', paste(cases, collapse = ",\n")))
