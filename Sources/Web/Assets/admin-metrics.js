// @ts-check
/**
 * Reads the text of `/metrics` and makes rates and quantiles of it. Pure: nothing is requested over the network.
 *
 * @typedef {{labels: Record<string, string>, value: number}} Sample
 * @typedef {Map<string, Sample[]>} Reading     The samples of each name.
 */

/** One sample's line of the Prometheus text format 0.0.4. */
const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;
/** More lines than a gateway has; what is beyond is left out. */
const MOST_LINES = 50_000;

/** @param {string} text @returns {Reading} */
export function readMetrics(text) {
    /** @type {Reading} */
    const reading = new Map();
    for (const line of text.split('\n', MOST_LINES)) {
        if (line.startsWith('#')) continue;
        const found = LINE.exec(line);
        if (!found) continue;
        const value = found[3] === '+Inf' ? Infinity : Number(found[3]);
        if (Number.isNaN(value)) continue;
        /** @type {Record<string, string>} */
        const labels = {};
        for (const [, name, text] of (found[2] ?? '').matchAll(LABEL)) {
            labels[name] = text.replace(/\\(.)/g, (_, letter) => (letter === 'n' ? '\n' : letter));
        }
        const list = reading.get(found[1]);
        if (list) list.push({ labels, value });
        else reading.set(found[1], [{ labels, value }]);
    }
    return reading;
}

/** The sum of all samples of a name; null where there is none. @param {Reading} reading @param {string} name */
export function total(reading, name) {
    const list = reading.get(name);
    return list ? list.reduce((sum, { value }) => sum + value, 0) : null;
}

/**
 * Sums by a label's value, or by what `group` makes of the labels.
 * @param {Reading} reading @param {string} name @param {(labels: Record<string, string>) => string} group
 * @returns {Map<string, number>}
 */
export function sums(reading, name, group) {
    /** @type {Map<string, number>} */
    const result = new Map();
    for (const { labels, value } of reading.get(name) ?? []) {
        const key = group(labels);
        result.set(key, (result.get(key) ?? 0) + value);
    }
    return result;
}

/**
 * How much each sum has grown, a second. A counter that shrank has begun anew (a restart), and counts from zero.
 * @param {Map<string, number>} before @param {Map<string, number>} after @param {number} seconds
 * @returns {Map<string, number>}
 */
export function rates(before, after, seconds) {
    if (!(seconds > 0)) return new Map();
    return new Map([...after].map(([key, value]) => {
        const old = before.get(key) ?? 0;
        return [key, (value >= old ? value - old : value) / seconds];
    }));
}

/**
 * A quantile of what a histogram has counted between two readings, as Prometheus' `histogram_quantile` estimates it.
 * @param {Map<string, number>} before sums by `le` @param {Map<string, number>} after @param {number} share 0…1
 * @returns {number|null} null where nothing was counted
 */
export function quantile(before, after, share) {
    const bounds = [...after.keys()].map((key) => ({ key, bound: key === '+Inf' ? Infinity : Number(key) }))
        .filter(({ bound }) => !Number.isNaN(bound)).sort((a, b) => a.bound - b.bound);
    const counts = bounds.map(({ key }) => {
        const [old, now] = [before.get(key) ?? 0, after.get(key) ?? 0];
        return now >= old ? now - old : now;
    });
    const all = counts.at(-1) ?? 0;
    if (!(all > 0)) return null;
    const wanted = share * all;
    const at = counts.findIndex((count) => count >= wanted);
    const { bound } = bounds[at];
    const lower = at === 0 ? 0 : bounds[at - 1].bound;
    // Beyond the last bound nothing is known but that.
    if (bound === Infinity) return at === 0 ? null : lower;
    const below = at === 0 ? 0 : counts[at - 1];
    const inside = counts[at] - below;
    return inside > 0 ? lower + (bound - lower) * ((wanted - below) / inside) : bound;
}

/** The largest of the sums, the rest as one. @param {Map<string, number>} map @param {number} most */
export function largest(map, most) {
    const sorted = [...map].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
    const rest = sorted.slice(most).reduce((sum, [, value]) => sum + value, 0);
    return new Map([...sorted.slice(0, most), ...(sorted.length > most ? [/** @type {[string, number]} */ (['others', rest])] : [])]);
}
