// @ts-check
/** What the console's modules make pages of. */

/** @param {string} id @returns {any} */
export const at = (id) => document.getElementById(id);

/** @param {string} tag @param {string} className @param {...(Node|string)} children */
export function make(tag, className, ...children) {
    const element = document.createElement(tag);
    element.className = className;
    element.append(...children);
    return element;
}

/** @param {string} text @param {string} [tone] */
export function badge(text, tone = '') {
    const element = make('span', 'badge', text);
    element.dataset.tone = tone;
    return element;
}

/** How long ago, or until then: `3 min`. @param {string|undefined|null} date */
export function span(date) {
    const seconds = Math.abs(Date.now() - Date.parse(date ?? '')) / 1000;
    if (Number.isNaN(seconds)) return '–';
    if (seconds < 120) return `${Math.round(seconds)} s`;
    if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
    return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}

/** @param {string|undefined|null} text shown whole when pointed at */
export function clipped(text) {
    const element = make('span', '', text ?? '–');
    if (text) element.title = text;
    return element;
}
