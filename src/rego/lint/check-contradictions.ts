import type { ErrorDetail } from '../../errors/app-error.js'
import { isClosing, isOpening, positionIn, stringValue } from '../modules/tokens/read-tokens.js'
import type { Token } from '../modules/tokens/read-tokens.js'
import type { RegoModule } from '../modules/rego-module.js'

/** An expression that compares a reference with a constant. */
interface Comparison {
  /** The text of the reference. */
  readonly subject: string
  /** The constant, normalized. */
  readonly value: string
  readonly shown: string
  readonly offset: number
}

/** Two expressions of one body that cannot both hold. */
export interface Contradiction {
  readonly first: Comparison
  readonly second: Comparison
}

/** Words next to which an expression continues. */
const JOINING: ReadonlySet<string> = new Set('and as contains else every if in not or some with'.split(' '))
const CONSTANTS: ReadonlySet<string> = new Set(['true', 'false', 'null'])

/**
 * Finds bodies that compare one reference with two values. Each comparison is a whole expression,
 * and the reference has only names and constants, so that its value is the same both times.
 */
export function findContradictions(tokens: readonly Token[]): Contradiction[] {
  const found: Contradiction[] = []
  /** The comparisons of open bodies, by depth. */
  const open: Map<string, Comparison>[] = []
  for (const [at, { kind, text, depth }] of tokens.entries()) {
    if (kind === 'sign' && isOpening(text)) open[depth] = new Map()
    const body = open[depth - 1]
    const second = body !== undefined && startsExpression(tokens, at) ? comparisonAt(tokens, at) : undefined
    if (body === undefined || second === undefined) continue
    const first = body.get(second.subject)
    if (first === undefined) body.set(second.subject, second)
    else if (first.value !== second.value) found.push({ first, second })
  }
  return found
}

/** Returns findings about bodies that never hold. */
export function checkContradictions({
  module: { file },
  text,
  contradictions,
}: {
  readonly module: RegoModule
  readonly text: string
  readonly contradictions: readonly Contradiction[]
}): ErrorDetail[] {
  return contradictions.map(({ first, second }) => ({
    code: 'never_true',
    message: `${second.subject} is compared with ${second.shown} here and with ${first.shown} in row ${positionIn(text, first.offset).row}: both never hold`,
    location: { file, ...positionIn(text, second.offset) },
  }))
}

function startsExpression(tokens: readonly Token[], at: number): boolean {
  const [before, token] = [tokens[at - 1], tokens[at]]
  if (before === undefined || token?.kind !== 'name') return false
  if (before.kind === 'sign' && ';{|'.includes(before.text)) return true
  return token.isFirstOnLine && (isClosing(before) || (before.kind !== 'sign' && !JOINING.has(before.text)))
}

function endsExpression(tokens: readonly Token[], at: number): boolean {
  const next = tokens[at]
  if (next === undefined || ';}]'.includes(next.text)) return true
  return next.isFirstOnLine && next.kind !== 'sign' && !JOINING.has(next.text)
}

/** Returns the comparison of an expression at a token, if it is one. */
function comparisonAt(tokens: readonly Token[], at: number): Comparison | undefined {
  const start = tokens[at]
  let end = at + 1
  let subject = start?.text ?? ''
  for (;;) {
    const [sign, member, close] = [tokens[end], tokens[end + 1], tokens[end + 2]]
    if (sign?.text === '.' && member?.kind === 'name') end += 2
    else if (
      sign?.text === '[' &&
      (member?.kind === 'string' || member?.kind === 'number') &&
      close?.text === ']'
    )
      end += 3
    else break
    subject = `${subject}${sign.text}${member.text}${sign.text === '[' ? ']' : ''}`
  }
  if (start === undefined || tokens[end]?.text !== '=') return undefined
  end += tokens[end + 1]?.text === '=' ? 2 : 1
  const sign = tokens[end]?.text === '-' ? '-' : ''
  const constant = tokens[end + sign.length]
  const value = constant === undefined ? undefined : constantOf(constant)
  if (constant === undefined || value === undefined || !endsExpression(tokens, end + sign.length + 1))
    return undefined
  return { subject, value: `${sign}${value}`, shown: `${sign}${constant.text}`, offset: start.offset }
}

/** Numbers that are nearly equal may compare as equal. */
function constantOf(token: Token): string | undefined {
  if (token.kind === 'string') return JSON.stringify(stringValue(token))
  if (token.kind === 'number') return String(Number(token.text))
  return CONSTANTS.has(token.text) ? token.text : undefined
}
