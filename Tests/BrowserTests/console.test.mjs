// The console's arithmetic, without a browser: node --test Tests/BrowserTests/console.test.mjs
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { largest, quantile, rates, readMetrics, sums, total } from '../../Sources/Web/Assets/admin-metrics.js';
import { niceTop } from '../../Sources/Web/Assets/admin-chart.js';

test('The text of /metrics is read: labels, escapes, numbers; what is no sample is left out', () => {
    const reading = readMetrics([
        '# HELP a help', '# TYPE a counter', 'a{route="/orders",status="200"} 7', 'a{route="/a\\"b\\\\c",status="403"} 2.5e1',
        'b 3', 'b{x="}"} 4 1700000000000', 'h_bucket{le="+Inf"} 9', 'broken', 'b NaN', '', 'c{} 1',
    ].join('\n'));
    assert.equal(total(reading, 'a'), 32);
    assert.equal(total(reading, 'b'), 7);
    assert.equal(total(reading, 'c'), 1);
    assert.equal(total(reading, 'none'), null);
    assert.deepEqual([...sums(reading, 'a', ({ status }) => status[0])], [['2', 7], ['4', 25]]);
    assert.equal(reading.get('a')[1].labels.route, '/a"b\\c');
});

test('A counter that shrank has begun anew', () => {
    const before = new Map([['a', 100], ['b', 10]]);
    assert.deepEqual([...rates(before, new Map([['a', 150], ['b', 4], ['c', 2]]), 2)], [['a', 25], ['b', 2], ['c', 1]]);
    assert.equal(rates(before, before, 0).size, 0);
});

test('Quantiles are those of what was counted in between', () => {
    const before = new Map([['0.1', 100], ['0.2', 100], ['+Inf', 100]]);
    const after = new Map([['+Inf', 200], ['0.1', 150], ['0.2', 200]]);
    assert.equal(quantile(before, after, 0.5), 0.1);
    assert.ok(Math.abs(quantile(before, after, 0.75) - 0.15) < 1e-9);
    assert.equal(quantile(before, before, 0.5), null);
    assert.equal(quantile(new Map(), new Map([['0.1', 0], ['+Inf', 5]]), 0.5), 0.1, 'beyond the last bound nothing is known');
    assert.equal(quantile(new Map(), new Map(), 0.5), null);
});

test('What is most is drawn, and the rest as one', () => {
    const map = new Map([['a', 1], ['b', 5], ['c', 3], ['d', 2]]);
    assert.deepEqual([...largest(map, 2)], [['b', 5], ['c', 3], ['others', 3]]);
    assert.deepEqual([...largest(map, 9)].length, 4);
});

test('The highest line of a chart is a round number', () => {
    assert.deepEqual([0, -1, NaN, Infinity, 0.003, 1, 1.2, 7, 42, 600, 1000].map(niceTop),
        [1, 1, 1, 1, 0.005, 1, 2, 10, 50, 1000, 1000]);
});
