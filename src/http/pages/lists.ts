import { html, raw } from 'hono/html'

import type { Html, Viewer } from './layout.js'
import { flag } from './parts.js'

/** A column of a table. On a phone, cells are one below the other with their labels. */
export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => Html | string | number
  /** True for cells that need no label on a phone. */
  readonly isPlain?: true
  readonly isNumber?: true
  readonly isQuote?: true
}

/** Renders rows as a table. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): Html {
  return html`<div class="wide">
    <table class="stacked">
      <thead>
        <tr>
          ${columns.map(({ head, isNumber }) => html`<th scope="col" class="${isNumber ? 'number' : ''}">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${columns.map((column) => renderCell(column, row))}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

function renderCell<Row>({ head, cell, isPlain, isNumber, isQuote }: Column<Row>, row: Row): Html {
  const style = isNumber ? 'number' : isQuote ? 'quote' : ''
  const content = cell(row)
  return isPlain
    ? html`<td class="${style}">${content}</td>`
    : html`<td class="${style}" data-label="${head}">${content}</td>`
}

/** A field of a filter form. */
export interface FilterField {
  readonly name: string
  readonly label: string
  readonly value: string
  /** Values with their labels; a text field without them. */
  readonly options?: readonly (readonly [value: string, label: string])[]
  /** Known values of a text field. */
  readonly suggestions?: readonly string[]
}

const MAX_FILTER = 200

/** Renders a GET form, so that filters work without a script and can be bookmarked. */
export function filterForm(path: string, fields: readonly FilterField[], { prefix }: Viewer): Html {
  return html`<form class="filter" method="get" action="${prefix}${path}" role="search">
    ${fields.map(filterField)}
    <button>Show</button>
  </form>`
}

function filterField({ name, label, value, options, suggestions }: FilterField): Html {
  const id = `filter-${name}`
  const field =
    options === undefined
      ? html`<input
          id="${id}"
          name="${name}"
          type="search"
          maxlength="${MAX_FILTER}"
          value="${value}"
          ${suggestions === undefined ? '' : raw(`list="${id}-known"`)}
        />`
      : html`<select id="${id}" name="${name}">
          ${options.map(([each, text]) => html`<option value="${each}" ${flag('selected', each === value)}>${text}</option>`)}
        </select>`
  return html`<div>
    <label for="${id}">${label}</label>
    ${field}
    ${
      suggestions === undefined
        ? ''
        : html`<datalist id="${id}-known">
            ${suggestions.map((each) => html`<option value="${each}"></option>`)}
          </datalist>`
    }
  </div>`
}

type Query = Readonly<Record<string, string | number | undefined>>

/** Returns a path with the non-empty members of a query. */
export function withQuery(path: string, query: Query): string {
  const set = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(
    set.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  return text === '' ? path : `${path}?${text}`
}

/** Position of a page in its list. */
export interface PagePosition {
  readonly path: string
  /** The filter, without the cursor. */
  readonly query: Query
  readonly cursor: string | undefined
  readonly nextCursor: string | undefined
}

/** Renders the links to the first and the next page. */
export function pager({ path, query, cursor, nextCursor }: PagePosition, { prefix }: Viewer): Html {
  if (cursor === undefined && nextCursor === undefined) return html``
  return html`<p class="pages">
    ${cursor === undefined ? '' : html`<a href="${prefix}${withQuery(path, query)}">First page</a>`}
    ${nextCursor === undefined ? '' : html`<a href="${prefix}${withQuery(path, { ...query, cursor: nextCursor })}">Next page</a>`}
  </p>`
}

/** Periods of time filters: value, label and length in milliseconds. */
const PERIODS = [
  ['', 'any time', undefined],
  ['hour', 'the last hour', 3_600_000],
  ['day', 'the last 24 hours', 86_400_000],
  ['week', 'the last 7 days', 604_800_000],
  ['month', 'the last 30 days', 2_592_000_000],
] as const

/** Values of the query parameter `period`. */
export const PERIOD_VALUES = ['', 'hour', 'day', 'week', 'month'] as const
export type Period = (typeof PERIOD_VALUES)[number]

/** The filter field of a period. */
export function periodField(value: Period): FilterField {
  return { name: 'period', label: 'Time', value, options: PERIODS.map(([each, label]) => [each, label]) }
}

/** Returns the start of a period that ends now; undefined for any time. */
export function startOf(period: Period, nowMs: number): number | undefined {
  const length = PERIODS.find(([value]) => value === period)?.[2]
  return length === undefined ? undefined : nowMs - length
}
