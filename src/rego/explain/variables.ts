import { calledName, isCall, isDeclaration, isEvery, isWildcard } from './print-tree.js'
import type { Body, Expression, Term } from './syntax-tree.js'

/** Names that are not variables of a body: rules, imports and documents. */
export type GlobalNames = ReadonlySet<string>

/** Calls whose operands may bind variables. */
const BINDING: ReadonlySet<string> = new Set(['assign', 'eq', 'internal.member_2', 'internal.member_3'])

/** Returns the local variables of terms, without those of comprehensions. */
export function variablesOf(terms: readonly Term[], globals: GlobalNames): Set<string> {
  const found = new Set<string>()
  const visit = (term: Term): void => {
    switch (term.type) {
      case 'var':
        if (!isWildcard(term) && !globals.has(term.value)) found.add(term.value)
        break
      case 'call':
        term.value.slice(1).forEach(visit)
        break
      case 'ref':
      case 'array':
      case 'set':
        term.value.forEach(visit)
        break
      case 'object':
        term.value.flat().forEach(visit)
        break
      default:
    }
  }
  terms.forEach(visit)
  return found
}

/** Returns the operands of a condition without the operator. */
export function operandsOf({ terms }: Expression): readonly Term[] {
  if (isCall(terms)) return terms.slice(1)
  if (isDeclaration(terms)) {
    const [only] = terms.symbols
    return only?.type === 'call' ? only.value.slice(1) : []
  }
  return isEvery(terms) ? [terms.domain] : [terms]
}

/** Returns the variables that have values once a condition holds. */
export function boundBy(expression: Expression, globals: GlobalNames): Set<string> {
  return expression.negated === true ? new Set() : variablesOf(operandsOf(expression), globals)
}

/**
 * Returns a body with each condition after those that bind its variables, as OPA evaluates it.
 * Markers between the conditions would otherwise show another order.
 */
export function orderBody(body: Body, bound: ReadonlySet<string>, globals: GlobalNames): Body {
  const known = new Set(bound)
  const bindable = new Set(body.flatMap((expression) => [...boundBy(expression, globals)]))
  const ordered: Expression[] = []
  let left = [...body]
  while (left.length > 0) {
    const isReady = (expression: Expression): boolean =>
      [...neededBy(expression, globals)].every((name) => known.has(name) || !bindable.has(name))
    const next = left.find(isReady) ?? left[0]
    if (next === undefined) break
    ordered.push(next)
    left = left.filter((expression) => expression !== next)
    for (const name of boundBy(next, globals)) known.add(name)
  }
  return ordered
}

/**
 * Variables that a condition cannot bind itself: those of negations, operands of built-ins, nested
 * calls and the first term of a reference.
 */
function neededBy(expression: Expression, globals: GlobalNames): Set<string> {
  const { terms, negated } = expression
  const operands = operandsOf(expression)
  if (negated === true) return variablesOf(operands, globals)
  const isBinding = !isCall(terms) || BINDING.has(calledName(terms[0]))
  const needed = new Set<string>()
  const visit = (term: Term, mayBind: boolean): void => {
    if (term.type === 'var') {
      if (!mayBind) for (const name of variablesOf([term], globals)) needed.add(name)
    } else if (term.type === 'call') term.value.slice(1).forEach((inner) => visit(inner, false))
    else if (term.type === 'ref') term.value.forEach((inner, place) => visit(inner, place > 0))
    else if (term.type === 'array' || term.type === 'set')
      term.value.forEach((inner) => visit(inner, mayBind))
    else if (term.type === 'object')
      term.value.forEach(([key, value]) => {
        visit(key, false)
        visit(value, mayBind)
      })
  }
  for (const operand of operands) visit(operand, isBinding)
  return needed
}
