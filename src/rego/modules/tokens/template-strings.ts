import { AppError } from '../../../errors/app-error.js'
import { notCodeAt } from './not-code.js'

/**
 * Rewrites template strings (`$"a {x} b"`, OPA 1.12) as calls that every Rego version has; lines
 * stay. An undefined expression becomes `<undefined>`. A template string without an end stays, so
 * that the parser reports it.
 */
export function expandTemplateStrings(text: string): string {
  let out = ''
  let copied = 0
  for (const { start, end, code } of findTemplateStrings(text)) {
    out += text.slice(copied, start) + code
    copied = end
  }
  return out + text.slice(copied)
}

export interface TemplateString {
  readonly start: number
  /** The offset after its last character. */
  readonly end: number
  /** Start and end of each expression, without braces. */
  readonly expressions: readonly (readonly [start: number, end: number])[]
  /** Equivalent code for every Rego version. */
  readonly code: string
}

/**
 * Returns the complete template strings of a text in order, without nested ones, up to the first
 * one without an end. Raises `invalid` if they are nested too deeply.
 */
export function findTemplateStrings(text: string): TemplateString[] {
  const found: TemplateString[] = []
  let at = 0
  while (at < text.length) {
    if (!isTemplateStart(text, at)) {
      at = endOfToken(text, at)
      continue
    }
    const template = readTemplate(text, at, 0)
    if (template === undefined) break
    found.push(template)
    at = template.end
  }
  return found
}

/** Returns the text with a raw string of the same length and lines for each template string. */
export function withoutTemplates(source: string, templates: readonly TemplateString[]): string {
  let out = ''
  for (const { start, end } of templates)
    out += `${source.slice(out.length, start)}\`${source.slice(start + 1, end - 1).replace(/[^\n]/g, ' ')}\``
  return out + source.slice(out.length)
}

const VALUE = 'tidegate_value'
const MAX_NESTING = 100

function isTemplateStart(text: string, at: number): boolean {
  return text[at] === '$' && (text[at + 1] === '"' || text[at + 1] === '`')
}

/** Returns the end of a string or comment, else of one character. */
function endOfToken(text: string, at: number): number {
  return notCodeAt(text, at)?.end ?? at + 1
}

function readTemplate(text: string, start: number, nesting: number): TemplateString | undefined {
  if (nesting > MAX_NESTING)
    throw new AppError('invalid', `template strings are nested more than ${MAX_NESTING} deep`)
  const quote = text[start + 1]
  const parts: string[] = []
  const expressions: [number, number][] = []
  let literal = ''
  let at = start + 2
  while (at < text.length && text[at] !== quote) {
    if (text[at] === '{') {
      const expression = readExpression(text, at + 1, nesting + 1)
      if (expression === undefined) return undefined
      parts.push(literalCode(literal, quote), expressionCode(expression.code))
      expressions.push([at + 1, expression.end])
      literal = ''
      at = expression.end + 1
      continue
    }
    const length = text[at] === '\\' ? 2 : 1
    const sign = text.slice(at, at + length)
    literal += sign === '\\{' ? '{' : sign
    at += length
  }
  if (at >= text.length) return undefined
  const code = `concat("", [${[...parts, literalCode(literal, quote)].join(', ')}])`
  return { start, end: at + 1, expressions, code }
}

/**
 * Returns the offset of the brace that ends an expression, after nested braces, strings and
 * templates, and the expression's code without templates. Each template is read once, because they
 * can be nested.
 */
function readExpression(
  text: string,
  start: number,
  nesting: number,
): { readonly end: number; readonly code: string } | undefined {
  let depth = 0
  let at = start
  let code = ''
  let copied = start
  while (at < text.length) {
    if (isTemplateStart(text, at)) {
      const template = readTemplate(text, at, nesting)
      if (template === undefined) return undefined
      code += text.slice(copied, at) + template.code
      copied = at = template.end
      continue
    }
    if (text[at] === '}' && depth === 0) return { end: at, code: code + text.slice(copied, at) }
    if (text[at] === '{') depth++
    if (text[at] === '}') depth--
    at = endOfToken(text, at)
  }
  return undefined
}

/** Line breaks of a raw literal follow it, so that later code stays on its line. */
function literalCode(literal: string, quote: string | undefined): string {
  if (quote === '"') return `"${literal}"`
  return JSON.stringify(literal) + '\n'.repeat(literal.split('\n').length - 1)
}

/** Returns the text of the expression's value, or the replacement if it is undefined. */
function expressionCode(expression: string): string {
  return `array.concat([sprintf("%v", [${VALUE}]) | ${VALUE} := ${expression}], ["<undefined>"])[0]`
}
