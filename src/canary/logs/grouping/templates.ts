import { createHash } from 'node:crypto'

import { firstRow, wordsKey } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'

/** The common part of lines with different values. */
export interface Template {
  /** In order of first appearance, from 1. */
  readonly id: number
  /** With `<*>` for values. */
  readonly text: string
  readonly lines: number
  /**
   * Keys by which another run recognizes the template, even if that run had fewer lines to detect
   * values. The template's own key is first.
   */
  readonly keys: readonly string[]
}

/** The templates of a table. */
export interface Templates {
  readonly templates: readonly Template[]
  /** The id of the template of a row that `TemplateTable.add` gave. */
  readonly idOfRow: Int32Array
  /** Events that arrived when the table was full. They share one template without words. */
  readonly otherLines: number
}

/** Stands for everything that came when the table was full. */
const OTHER_TEXT = '<*>'
const KEY_CHARACTERS = 22
const MAX_TEXT = 1000

/** Patterns as templates with the counts of their rows. */
export function toTemplates(
  patterns: readonly Pattern[],
  linesOfRow: readonly number[],
  otherRow: number | undefined,
): Templates {
  const idOfRow = new Int32Array(linesOfRow.length)
  const groups = [...patterns, ...(otherRow === undefined ? [] : [otherPattern(otherRow)])]
  const templates = groups
    .toSorted((a, b) => firstRow(a) - firstRow(b))
    .map((pattern, place) => {
      for (const row of pattern.rows) idOfRow[row] = place + 1
      return toTemplate(pattern, place + 1, linesOfRow)
    })
  return { templates, idOfRow, otherLines: otherRow === undefined ? 0 : (linesOfRow[otherRow] ?? 0) }
}

function toTemplate(
  { words, gaps, rows, origins }: Pattern,
  id: number,
  linesOfRow: readonly number[],
): Template {
  const text = words.map((word, place) => (place > 0 && (gaps[place] ?? 0) > 0 ? ` ${word}` : word)).join('')
  const lines = rows.reduce((sum, row) => sum + (linesOfRow[row] ?? 0), 0)
  const keys = new Set([wordsKey(words), ...origins].map(shortKey))
  return { id, text: text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text, lines, keys: [...keys] }
}

function shortKey(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, KEY_CHARACTERS)
}

function otherPattern(row: number): Pattern {
  return { words: [OTHER_TEXT], gaps: [0], rows: [row], origins: [], isFixed: true }
}
