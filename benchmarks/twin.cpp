// Plain C++ twins of the sweeps: the same data, the loops that one would write by hand. `make bench` compiles this file
// with g++ -O3 -march=native and times it in the same process as ours.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

extern "C" {

// Projected Gauss-Seidel on compressed rows: scalar sum, as in any textbook.
void sweep_csr(int64_t count, int64_t n, const uint32_t* pointers, const uint32_t* indices, const double* values,
               const double* step, const double* b, const double* lower, const double* upper, double* x) {
  for (int64_t sweep = 0; sweep < count; ++sweep)
    for (int64_t i = 0; i < n; ++i) {
      double y = b[i];
      for (uint32_t k = pointers[i]; k < pointers[i + 1]; ++k) y += values[k] * x[indices[k]];
      x[i] = std::min(std::max(x[i] - step[i] * y, lower[i]), upper[i]);
    }
}

static inline double dot12(const double* j, const double* va, const double* vb) {
  double a = 0, b = 0;
  for (int k = 0; k < 6; ++k) a += j[k] * va[k];
  for (int k = 0; k < 6; ++k) b += j[6 + k] * vb[k];
  return a + b;
}

// Rows on pairs of bodies with a scaled copy of J.
void sweep_rows(int64_t count, int64_t m, const uint32_t* bodies, const double* jacobian, const double* scaled,
                const double* compliance, const double* step, const double* b, const double* lower,
                const double* upper, double* x, double* v) {
  for (int64_t sweep = 0; sweep < count; ++sweep)
    for (int64_t i = 0; i < m; ++i) {
      double* va = v + 6 * size_t(bodies[2 * i]);
      double* vb = v + 6 * size_t(bodies[2 * i + 1]);
      const double old = x[i];
      const double y = dot12(jacobian + 12 * i, va, vb) + compliance[i] * old + b[i];
      x[i] = std::min(std::max(old - step[i] * y, lower[i]), upper[i]);
      const double change = x[i] - old;
      const double* w = scaled + 12 * i;
      for (int k = 0; k < 6; ++k) va[k] += w[k] * change;
      for (int k = 0; k < 6; ++k) vb[k] += w[6 + k] * change;
    }
}

static inline void push(double* v, const double* m, const double* j, double d) {
  const double p = j[3] * d, q = j[4] * d, r = j[5] * d;
  v[0] += m[0] * j[0] * d;
  v[1] += m[0] * j[1] * d;
  v[2] += m[0] * j[2] * d;
  v[3] += m[1] * p + m[4] * q + m[5] * r;
  v[4] += m[4] * p + m[2] * q + m[6] * r;
  v[5] += m[5] * p + m[6] * q + m[3] * r;
}

// Three rows a contact, one row after the other, M^-1 applied on the fly.
void sweep_contacts(int64_t count, int64_t contacts, const uint32_t* bodies, const double* jacobian,
                    const double* inverse_mass, const double* friction, const double* compliance, const double* step,
                    const double* b, double* x, double* v) {
  for (int64_t sweep = 0; sweep < count; ++sweep)
    for (int64_t c = 0; c < contacts; ++c) {
      const size_t body_a = bodies[6 * c], body_b = bodies[6 * c + 1];
      double limit = 0;
      for (int row = 0; row < 3; ++row) {
        const int64_t i = 3 * c + row;
        const double* j = jacobian + 12 * i;
        const double old = x[i];
        double next = old - step[i] * (dot12(j, v + 6 * body_a, v + 6 * body_b) + compliance[i] * old + b[i]);
        if (row == 0) {
          next = std::max(next, 0.0);
          limit = friction[c] * next;
        } else {
          next = std::min(std::max(next, -limit), limit);
        }
        x[i] = next;
        push(v + 6 * body_a, inverse_mass + 8 * body_a, j, next - old);
        push(v + 6 * body_b, inverse_mass + 8 * body_b, j + 6, next - old);
      }
    }
}

// The same, tuned as ours is: the three slacks at one velocity, corrected by the block, and one scatter a contact.
void sweep_contacts_tuned(int64_t count, int64_t contacts, const uint32_t* bodies, const double* jacobian,
                          const double* inverse_mass, const double* coupling, const double* friction,
                          const double* compliance, const double* step, const double* b, double* x, double* v) {
  for (int64_t sweep = 0; sweep < count; ++sweep)
    for (int64_t c = 0; c < contacts; ++c) {
      const size_t body[2] = {bodies[6 * c], bodies[6 * c + 1]};
      const double *va = v + 6 * body[0], *vb = v + 6 * body[1], *j = jacobian + 36 * c;
      const int64_t n = 3 * c, p = n + 1, q = n + 2;
      const double y_n = dot12(j, va, vb) + compliance[n] * x[n] + b[n];
      double y_p = dot12(j + 12, va, vb) + compliance[p] * x[p] + b[p];
      double y_q = dot12(j + 24, va, vb) + compliance[q] * x[q] + b[q];
      const double new_n = std::max(x[n] - step[n] * y_n, 0.0), dn = new_n - x[n], limit = friction[c] * new_n;
      y_p += coupling[n] * dn;
      y_q += coupling[p] * dn;
      const double new_p = std::min(std::max(x[p] - step[p] * y_p, -limit), limit), dp = new_p - x[p];
      y_q += coupling[q] * dp;
      const double new_q = std::min(std::max(x[q] - step[q] * y_q, -limit), limit), dq = new_q - x[q];
      x[n] = new_n;
      x[p] = new_p;
      x[q] = new_q;
      for (int side = 0; side < 2; ++side) {
        const double* w = j + 6 * side;
        double f[6];
        for (int k = 0; k < 6; ++k) f[k] = w[k] * dn + w[12 + k] * dp + w[24 + k] * dq;
        push(v + 6 * body[side], inverse_mass + 8 * body[side], f, 1.0);
      }
    }
}

// Block Gauss-Seidel with Coulomb's cone: eight numbers a contact (W_nn, 1 / W_nn, W_nt / W_nn, the eigenvalues of the
// Schur complement, cosine and sine of its eigenvectors), stick or separate or slide by Newton in a bracket.
void sweep_cones(int64_t count, int64_t contacts, const uint32_t* bodies, const double* jacobian,
                 const double* inverse_mass, const double* local, const double* friction, const double* compliance,
                 const double* b, double* x, double* v) {
  for (int64_t sweep = 0; sweep < count; ++sweep)
    for (int64_t c = 0; c < contacts; ++c) {
      const size_t body[2] = {bodies[6 * c], bodies[6 * c + 1]};
      const double *va = v + 6 * body[0], *vb = v + 6 * body[1], *j = jacobian + 36 * c, *w = local + 8 * c;
      const double mu = friction[c], *old = x + 3 * c, *rhs = b + 3 * c, *soft = compliance + 3 * c;
      const double y_n = dot12(j, va, vb) + soft[0] * old[0] + rhs[0];
      const double y_p = dot12(j + 12, va, vb) + soft[1] * old[1] + rhs[1];
      const double y_q = dot12(j + 24, va, vb) + soft[2] * old[2] + rhs[2];
      const double a1 = w[2], a2 = w[3], s1 = w[4], s2 = w[5], cosine = w[6], sine = w[7];
      const double pull1 = cosine * y_p + sine * y_q - a1 * y_n, pull2 = cosine * y_q - sine * y_p - a2 * y_n;
      const double old1 = cosine * old[1] + sine * old[2], old2 = cosine * old[2] - sine * old[1];
      double x1 = old1 - pull1 / s1, x2 = old2 - pull2 / s2;
      double n = old[0] - w[1] * y_n - a1 * (x1 - old1) - a2 * (x2 - old2);
      if (!(n >= 0 && x1 * x1 + x2 * x2 <= mu * mu * n * n)) {
        const double q_n = y_n - w[0] * (old[0] + a1 * old1 + a2 * old2);
        const double r1 = pull1 - s1 * old1, r2 = pull2 - s2 * old2, free_n = -q_n * w[1];
        if (q_n >= 0) {
          n = x1 = x2 = 0;
        } else if (mu <= 0) {
          n = free_n;
          x1 = x2 = 0;
        } else {
          double low = 0, high = (1 + mu * std::sqrt(a1 * a1 + a2 * a2)) * std::sqrt(r1 * r1 + r2 * r2) / (mu * free_n);
          double alpha = std::sqrt(y_p * y_p + y_q * y_q) / std::max(std::sqrt(old1 * old1 + old2 * old2), 1e-300);
          if (!(alpha > low && alpha < high)) alpha = 0.5 * high;
          bool close = false;
          for (int k = 0; k < 100; ++k) {
            x1 = -r1 / (s1 + alpha);
            x2 = -r2 / (s2 + alpha);
            n = free_n - a1 * x1 - a2 * x2;
            const double length = std::sqrt(x1 * x1 + x2 * x2), excess = mu * n - length;
            if (close || std::fabs(excess) <= 4e-16 * length) break;
            (excess < 0 ? low : high) = alpha;
            const double f1 = x1 / (s1 + alpha), f2 = x2 / (s2 + alpha);
            const double growth = (a1 * f1 + a2 * f2) * length + n * (x1 * f1 + x2 * f2) / length;
            const double newton = growth > 0 ? alpha - excess * length / (mu * growth) : low;
            if (newton > low && newton < high) {
              close = std::fabs(newton - alpha) <= 1e-8 * alpha;
              alpha = newton;
            } else {
              close = high - low <= 4e-16 * high;
              alpha = 0.5 * (low + high);
            }
          }
          n = std::max(n, 0.0);
          const double factor = mu * n / std::max(std::sqrt(x1 * x1 + x2 * x2), 1e-300);
          x1 *= factor;
          x2 *= factor;
        }
      }
      const double d[3] = {n - old[0], cosine * x1 - sine * x2 - old[1], sine * x1 + cosine * x2 - old[2]};
      for (int row = 0; row < 3; ++row) x[3 * c + row] += d[row];
      for (int side = 0; side < 2; ++side) {
        const double* k = j + 6 * side;
        double f[6];
        for (int i = 0; i < 6; ++i) f[i] = k[i] * d[0] + k[12 + i] * d[1] + k[24 + i] * d[2];
        push(v + 6 * body[side], inverse_mass + 8 * body[side], f, 1.0);
      }
    }
}
}
