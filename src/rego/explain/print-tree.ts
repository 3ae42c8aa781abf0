import type { Body, Declaration, Every, Expression, Term } from './syntax-tree.js'

/** Names in references that need no brackets. */
const PLAIN_NAME = /^[A-Za-z_]\w*$/
const KEYWORDS: ReadonlySet<string> = new Set(
  'as contains default else every false if import in not null package some true with'.split(' '),
)
const INFIX: Readonly<Record<string, string>> = { assign: ':=', eq: '=' }

/** Replaces terms while a tree is printed; undefined prints the term itself. */
export type Replace = (term: Term) => string | undefined

/** Returns Rego source that parses to a term. Wildcards (`$0` in the tree) become `_`. */
export function printTerm(term: Term, replace: Replace = () => undefined): string {
  const replaced = replace(term)
  if (replaced !== undefined) return replaced
  const print = (inner: Term): string => printTerm(inner, replace)
  switch (term.type) {
    case 'null':
    case 'boolean':
    case 'string':
      return JSON.stringify(term.value)
    case 'number':
      return numberText(term)
    case 'var':
      return isWildcard(term) ? '_' : term.value
    case 'ref':
      return printRef(term.value, replace)
    case 'call':
      return printCall(term.value, replace)
    case 'array':
      return `[${term.value.map(print).join(', ')}]`
    case 'set':
      return term.value.length === 0 ? 'set()' : `{${term.value.map(print).join(', ')}}`
    case 'object':
      return `{${term.value.map(([key, value]) => `${print(key)}: ${print(value)}`).join(', ')}}`
    case 'arraycomprehension':
      return `[${print(term.value.term)} | ${printBody(term.value.body, replace)}]`
    case 'setcomprehension':
      return `{${print(term.value.term)} | ${printBody(term.value.body, replace)}}`
    case 'objectcomprehension': {
      const { key, value, body } = term.value
      return `{${print(key)}: ${print(value)} | ${printBody(body, replace)}}`
    }
    case 'templatestring':
      return printTemplate(term.value.parts, replace)
  }
}

/** Returns the text of a name or string; Rego for other terms. */
export function segmentText(term: Term): string {
  return typeof term.value === 'string' ? term.value : printTerm(term)
}

/** True for `_`. */
export function isWildcard(term: Term): boolean {
  return term.type === 'var' && term.value.startsWith('$')
}

function printBody(body: Body, replace: Replace): string {
  return body.map((expression) => printExpression(expression, replace)).join('; ')
}

/** Returns Rego source that parses to a condition. */
export function printExpression({ terms, negated, with: modifiers }: Expression, replace?: Replace): string {
  const not = negated === true ? 'not ' : ''
  const replaced = (modifiers ?? []).map(
    ({ target, value }) => ` with ${printTerm(target, replace)} as ${printTerm(value, replace)}`,
  )
  return `${not}${printTerms(terms, replace)}${replaced.join('')}`
}

function printTerms(terms: Expression['terms'], replace?: Replace): string {
  if (isCall(terms)) return printCall(terms, replace)
  if (isDeclaration(terms)) return printDeclaration(terms, replace)
  if (isEvery(terms))
    return `${printEveryHead(terms, replace)} { ${printBody(terms.body, replace ?? (() => undefined))} }`
  return printTerm(terms, replace)
}

/** Returns `every k, v in xs`. */
export function printEveryHead({ key, value, domain }: Every, replace?: Replace): string {
  const names = [...(key ? [key] : []), value].map((name) => printTerm(name, replace))
  return `every ${names.join(', ')} in ${printTerm(domain, replace)}`
}

export function isCall(terms: Expression['terms']): terms is readonly Term[] {
  return Array.isArray(terms)
}

export function isDeclaration(terms: Expression['terms']): terms is Declaration {
  return 'symbols' in terms
}

export function isEvery(terms: Expression['terms']): terms is Every {
  return 'domain' in terms
}

/** `some x in xs` is a call of `internal.member_2` in the tree. */
function printDeclaration({ symbols }: Declaration, replace?: Replace): string {
  const [only] = symbols
  if (only?.type !== 'call') return `some ${symbols.map((symbol) => printTerm(symbol, replace)).join(', ')}`
  const operands = only.value.slice(1).map((operand) => printTerm(operand, replace))
  return `some ${operands.slice(0, -1).join(', ')} in ${operands.at(-1) ?? ''}`
}

/** Returns the name of a called function: `sprintf`, `io.jwt.decode`. */
export function calledName(operator: Term | undefined): string {
  return operator === undefined ? '' : printTerm(operator)
}

function printCall([operator, ...operands]: readonly Term[], replace?: Replace): string {
  const name = calledName(operator)
  const texts = operands.map((operand) => printTerm(operand, replace))
  const sign = INFIX[name]
  if (sign !== undefined && texts.length === 2) return `${texts[0] ?? ''} ${sign} ${texts[1] ?? ''}`
  return `${name}(${texts.join(', ')})`
}

/** A name that is a keyword must be followed by a point, as in `if.x`; elsewhere `["if"]` is older. */
function printRef([head, ...steps]: readonly Term[], replace?: Replace): string {
  const start = head === undefined ? '' : printTerm(head, replace)
  const isPlain = (step: Term): boolean => {
    const text = segmentText(step)
    return step.type === 'string' && PLAIN_NAME.test(text) && (!KEYWORDS.has(text) || KEYWORDS.has(start))
  }
  const rest = steps.map((step) =>
    isPlain(step) ? `.${segmentText(step)}` : `[${printTerm(step, replace)}]`,
  )
  return `${start}${rest.join('')}`
}

/** A number as written, because JavaScript rounds long ones. */
function numberText({ value, location }: Term): string {
  const written = location?.text ?? ''
  return written !== '' && Number(written) === value ? written : JSON.stringify(value)
}

function printTemplate(parts: readonly (Term | Expression)[], replace?: Replace): string {
  const texts = parts.map((part) => {
    if ('terms' in part) return `{${printExpression(part, replace)}}`
    const text = part.type === 'string' ? segmentText(part) : printTerm(part, replace)
    return JSON.stringify(text).slice(1, -1).replaceAll('{', '\\{')
  })
  return `$"${texts.join('')}"`
}
