# Rscript doc/benchmarks/scripts/sdr_partial.R [library of dr]
# How often R's dr rejects, at level .05, that noise has no direction given a category, of 300 sets.
library(dr, lib.loc = c(commandArgs(trailingOnly = TRUE), .libPaths()))
set.seed(1)
rejected <- 0
for (i in 1:300) {
  d <- data.frame(y = rnorm(200), matrix(rnorm(200 * 4), 200), g = rep(0:1, 100))
  m <- dr(y ~ X1 + X2 + X3 + X4, group = ~g, data = d, method = "sir", nslices = 5, pool = TRUE)
  rejected <- rejected + (m$test(1)[1, "p.value"] < .05)
}
print(rejected / 300)
