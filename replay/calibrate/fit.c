#include "replay/calibrate/fit.h"

#include <math.h>
#include <string.h>

void fit_init(struct fit *fit, size_t terms)
{
    memset(fit, 0, sizeof *fit);
    fit->terms = terms;
}

void fit_add(struct fit *fit, const double *a, double y, double w)
{
    double w2 = w * w;
    for (size_t i = 0; i < fit->terms; i++) {
        for (size_t j = 0; j < fit->terms; j++)
            fit->normal[i][j] += w2 * a[i] * a[j];
        fit->right[i] += w2 * a[i] * y;
    }
    fit->square += w2 * y * y;
    fit->sum += w2 * y;
    fit->weight += w2;
    fit->rows++;
}

/* Solve the unscaled normal equations over the free unknowns by Cholesky; unknowns whose pivot vanishes are taken as
 * zero. inverse, if not NULL, gets the diagonal of the inverse. */
static void solve_free(const struct fit *fit, const double *scale, const bool *free_, double *x, double *inverse)
{
    size_t index[FIT_MAX], n = 0;
    for (size_t i = 0; i < fit->terms; i++) {
        x[i] = 0;
        if (inverse)
            inverse[i] = INFINITY;
        if (free_[i] && scale[i] > 0)
            index[n++] = i;
    }
    double l[FIT_MAX][FIT_MAX] = {{0}};
    bool dead[FIT_MAX] = {false};
    for (size_t c = 0; c < n; c++) {
        double d = fit->normal[index[c]][index[c]] * scale[index[c]] * scale[index[c]];
        for (size_t k = 0; k < c; k++)
            d -= l[c][k] * l[c][k];
        dead[c] = d < 1e-12;
        l[c][c] = dead[c] ? 1 : sqrt(d);
        for (size_t r = c + 1; r < n; r++) {
            double v = fit->normal[index[r]][index[c]] * scale[index[r]] * scale[index[c]];
            for (size_t k = 0; k < c; k++)
                v -= l[r][k] * l[c][k];
            l[r][c] = dead[c] ? 0 : v / l[c][c];
        }
        if (dead[c])
            for (size_t k = 0; k < c; k++)
                l[c][k] = 0;
    }
    for (size_t column = 0; column <= (inverse ? n : 0); column++) {
        /* column 0 solves for x, the others for columns of the inverse */
        double z[FIT_MAX];
        for (size_t r = 0; r < n; r++) {
            z[r] = column == 0 ? fit->right[index[r]] * scale[index[r]] : (r == column - 1);
            if (dead[r])
                z[r] = 0;
            for (size_t k = 0; k < r; k++)
                z[r] -= l[r][k] * z[k];
            z[r] /= l[r][r];
        }
        for (size_t r = n; r-- > 0;) {
            for (size_t k = r + 1; k < n; k++)
                z[r] -= l[k][r] * z[k];
            z[r] /= l[r][r];
        }
        for (size_t r = 0; r < n; r++) {
            if (column == 0)
                x[index[r]] = dead[r] ? 0 : z[r] * scale[index[r]];
            else if (r == column - 1 && !dead[r])
                inverse[index[r]] = z[r] * scale[index[r]] * scale[index[r]];
        }
    }
}

/* Half the negative gradient: where it is positive, raising the unknown helps. */
static double pull(const struct fit *fit, size_t i)
{
    double g = fit->right[i];
    for (size_t j = 0; j < fit->terms; j++)
        g -= fit->normal[i][j] * fit->x[j];
    return g;
}

/* Move from x towards the unbounded solution until the first unknown hits zero; that one leaves the free set. */
static bool step(struct fit *fit, const double *target, bool *free_)
{
    double alpha = 1;
    for (size_t i = 0; i < fit->terms; i++)
        if (free_[i] && target[i] <= 0 && fit->x[i] - target[i] > 0)
            alpha = fmin(alpha, fit->x[i] / (fit->x[i] - target[i]));
    bool hit = false;
    for (size_t i = 0; i < fit->terms; i++) {
        if (!free_[i])
            continue;
        fit->x[i] += alpha * (target[i] - fit->x[i]);
        if (target[i] <= 0 && fit->x[i] <= 1e-12 * fabs(target[i]) + 1e-300) {
            fit->x[i] = 0;
            free_[i] = false;
            hit = true;
        }
    }
    return hit;
}

int fit_solve(struct fit *fit, struct err *err)
{
    if (fit->rows < fit->terms)
        return err_set(err, "%zu rows are too few for %zu unknown numbers", fit->rows, fit->terms);
    double scale[FIT_MAX], target[FIT_MAX], inverse[FIT_MAX];
    bool free_[FIT_MAX] = {false};
    for (size_t i = 0; i < fit->terms; i++)
        scale[i] = fit->normal[i][i] > 0 ? 1 / sqrt(fit->normal[i][i]) : 0;
    for (size_t round = 0; round < (size_t)4 * FIT_MAX; round++) {
        size_t best = fit->terms;
        double most = 1e-10 * sqrt(fit->square);
        for (size_t i = 0; i < fit->terms; i++)
            if (!free_[i] && scale[i] > 0 && pull(fit, i) * scale[i] > most) {
                most = pull(fit, i) * scale[i];
                best = i;
            }
        if (best == fit->terms)
            break;
        free_[best] = true;
        do
            solve_free(fit, scale, free_, target, NULL);
        while (step(fit, target, free_));
    }
    double rest = fit->square;
    for (size_t i = 0; i < fit->terms; i++) {
        rest -= 2 * fit->x[i] * fit->right[i];
        for (size_t j = 0; j < fit->terms; j++)
            rest += fit->x[i] * fit->normal[i][j] * fit->x[j];
        fit->at_bound[i] = !free_[i];
    }
    rest = fmax(rest, 0);
    double variance = fit->square - fit->sum * fit->sum / fit->weight;
    fit->rms = sqrt(rest / fit->weight);
    fit->r2 = variance > 0 ? 1 - rest / variance : 0;
    bool all[FIT_MAX] = {false};
    for (size_t i = 0; i < fit->terms; i++)
        all[i] = true;
    solve_free(fit, scale, all, target, inverse);
    double sigma2 = fit->rows > fit->terms ? rest / (double)(fit->rows - fit->terms) : 0;
    for (size_t i = 0; i < fit->terms; i++)
        fit->error[i] = isfinite(inverse[i]) ? sqrt(sigma2 * inverse[i]) : INFINITY;
    return 0;
}
