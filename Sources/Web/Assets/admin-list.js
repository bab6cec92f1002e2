// @ts-check
/**
 * A table of which only the rows in sight exist, so that 50,000 are no more work than 50. Every row is as high as every
 * other. Assistive technology is told the place and number of rows (`aria-rowindex`, `aria-rowcount`).
 *
 * @template Row
 * @typedef {{name: string, cell: (row: Row) => Node|string, className?: string}} Column<Row>
 */

/** In CSS pixels; admin.css says the same. */
const ROW = 36;
const HEAD = 32;
/** Rows above and below those in sight, so that scrolling finds them there. */
const SPARE = 8;

/** @template Row */
export class VirtualList {
    #element;
    #columns;
    #label;
    /** @type {(row: Row) => string} */ #state;
    /** @type {Row[]} */ #rows = [];
    #body;
    #empty;
    #isAsked = false;
    /** The rows that exist, by place. @type {Map<number, HTMLElement>} */ #drawn = new Map();

    /**
     * @param {HTMLElement} element @param {string} label @param {Column<Row>[]} columns
     * @param {(row: Row) => string} [state] a class for the row
     */
    constructor(element, label, columns, state = () => '') {
        this.#element = element;
        this.#columns = columns;
        this.#label = label;
        this.#state = state;
        element.setAttribute('role', 'table');
        element.setAttribute('aria-label', label);
        element.tabIndex = 0;
        const head = part('div', 'head', 'row', ...columns.map(({ name }) => part('span', '', 'columnheader', name)));
        head.setAttribute('aria-rowindex', '1');
        this.#body = part('div', 'rows', 'rowgroup');
        this.#empty = part('p', 'empty', '', 'Nothing.');
        element.replaceChildren(part('div', 'head-group', 'rowgroup', head), this.#body);
        element.addEventListener('scroll', () => this.#ask(), { passive: true });
        new ResizeObserver(() => this.#ask()).observe(element);
    }

    /** @returns {Row[]} */
    get rows() { return this.#rows; }

    /** What is listed. The place that was scrolled to stays. @param {Row[]} rows */
    set rows(rows) {
        this.#rows = rows;
        this.refresh();
    }

    /** Draws the rows in sight anew: what they show has changed. */
    refresh() {
        this.#element.setAttribute('aria-rowcount', String(this.#rows.length + 1));
        this.#body.style.height = `${this.#rows.length * ROW}px`;
        this.#empty.remove();
        if (this.#rows.length === 0) this.#element.after(this.#empty);
        const focused = this.#focusedPlace();
        for (const row of this.#drawn.values()) row.remove();
        this.#drawn.clear();
        this.draw();
        if (focused !== null) /** @type {HTMLElement|null} */ (this.#drawn.get(focused)?.querySelector('button'))?.focus();
    }

    /** The place whose button has the focus, so that drawing anew does not take it away. */
    #focusedPlace() {
        for (const [place, row] of this.#drawn) if (row.contains(document.activeElement)) return place;
        return null;
    }

    #ask() {
        if (this.#isAsked) return;
        this.#isAsked = true;
        requestAnimationFrame(() => {
            this.#isAsked = false;
            this.draw();
        });
    }

    /** Makes the rows in sight and drops the others. */
    draw() {
        const height = this.#element.clientHeight || 600;
        const first = Math.max(0, Math.floor((this.#element.scrollTop - HEAD) / ROW) - SPARE);
        const end = Math.min(this.#rows.length, first + Math.ceil(height / ROW) + 2 * SPARE);
        const focused = this.#focusedPlace();
        for (const [place, row] of this.#drawn) {
            if (place >= first && place < end) continue;
            if (place === focused) this.#element.focus({ preventScroll: true });
            row.remove();
            this.#drawn.delete(place);
        }
        for (let place = first; place < end; place += 1) {
            if (!this.#drawn.has(place)) this.#make(place);
        }
    }

    /** @param {number} place */
    #make(place) {
        const value = this.#rows[place];
        const row = part('div', `row ${this.#state(value)}`, 'row',
            ...this.#columns.map(({ cell, className = '' }) => part('span', className, 'cell', cell(value))));
        row.setAttribute('aria-rowindex', String(place + 2));
        row.style.top = `${place * ROW}px`;
        // In the order of the rows, so that Tab goes down.
        let next = null;
        for (const [other, element] of this.#drawn) {
            if (other > place && (next === null || other < next.other)) next = { other, element };
        }
        this.#body.insertBefore(row, next?.element ?? null);
        this.#drawn.set(place, row);
    }
}

/** @param {string} tag @param {string} className @param {string} role @param {...(Node|string)} children */
function part(tag, className, role, ...children) {
    const element = document.createElement(tag);
    element.className = className;
    if (role) element.setAttribute('role', role);
    element.append(...children);
    return element;
}
