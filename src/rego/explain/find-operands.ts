import type { ModuleNames } from './module-names.js'
import { isCall, isDeclaration, isEvery, isWildcard, printTerm } from './print-tree.js'
import type { Body, Expression, Term } from './syntax-tree.js'
import type { UsedRule } from './traced-body.js'
import { operandsOf, variablesOf } from './variables.js'

/** The operands of conditions that a marker shows. */
export interface Operands {
  /** Source of the shown operands. */
  readonly texts: readonly string[]
  /** Source of the arguments of function calls, one array for each. */
  readonly calls: readonly string[]
  readonly uses: readonly UsedRule[]
}

/** The variables of a body at one of its conditions. */
export interface BodyVariables {
  /** Those with a value. */
  readonly bound: ReadonlySet<string>
  /** Those without one that a later condition gives a value. */
  readonly unbound: ReadonlySet<string>
}

const MAX_OPERANDS = 12
/** `_` in a reference. */
const ANY: Term = { type: 'var', value: '$any' }
const SCALARS: readonly string[] = ['null', 'boolean', 'number', 'string']

/**
 * Returns what to show of conditions: references, variables with a value, and results of built-ins.
 * Functions of policies are not called again; their arguments are shown. Variables without a value
 * become `_`. `omitsCalls` leaves out results of built-ins and comprehensions.
 */
export function findOperands(
  body: Body,
  variables: BodyVariables,
  names: ModuleNames,
  { omitsCalls = false }: { readonly omitsCalls?: boolean } = {},
): Operands {
  const search = new OperandSearch(variables, names, omitsCalls)
  for (const expression of body) search.add(expression)
  return search.found()
}

class OperandSearch {
  readonly #variables: BodyVariables
  readonly #names: ModuleNames
  readonly #omitsCalls: boolean
  readonly #texts = new Set<string>()
  readonly #calls = new Set<string>()
  readonly #used = new Map<string, { path: readonly string[]; call: string | undefined; isCall: boolean }>()
  /** True if the current condition calls functions of policies. */
  #hasFunctions = false

  constructor(variables: BodyVariables, names: ModuleNames, omitsCalls: boolean) {
    this.#variables = variables
    this.#names = names
    this.#omitsCalls = omitsCalls
  }

  add(expression: Expression): void {
    const { terms, with: modifiers } = expression
    const operands = operandsOf(expression)
    const own = isCall(terms) ? ({ type: 'call', value: terms } as const) : undefined
    this.#hasFunctions = (own ? [own] : operands).some((term) => this.#callsFunction(term))
    // Operands have other values outside of `with`. A value may be a function, which has none.
    if (modifiers !== undefined) {
      const values = modifiers.map(({ value }) => value)
      values
        .filter((value) => this.#isPlain(value) && !this.#namesRule(value))
        .forEach((value) => this.#visit(value))
    } else operands.forEach((operand) => this.#visit(operand))
    if (own !== undefined) this.#use(own, modifiers === undefined)
  }

  found(): Operands {
    const texts = [...this.#texts].slice(0, MAX_OPERANDS)
    const calls = [...this.#calls]
    const uses = [...this.#used.values()].map(({ path, call, isCall }) => ({
      path,
      isCall,
      ...(call !== undefined && { callAt: texts.length + calls.indexOf(call) }),
    }))
    return { texts, calls, uses }
  }

  #visit(term: Term): void {
    switch (term.type) {
      case 'var':
        this.#visitVariable(term)
        break
      case 'ref':
        this.#visitRef(term.value, term)
        break
      case 'call':
        this.#use(term, true)
        if (!this.#omitsCalls && !this.#hasFunctions && this.#isKnown(term)) this.#texts.add(printTerm(term))
        term.value.slice(1).forEach((operand) => this.#visit(operand))
        break
      case 'array':
      case 'set':
        term.value.forEach((member) => this.#visit(member))
        break
      case 'object':
        term.value.forEach(([, value]) => this.#visit(value))
        break
      case 'arraycomprehension':
      case 'setcomprehension':
      case 'objectcomprehension':
        if (!this.#omitsCalls && this.#isKnown(term)) this.#texts.add(printTerm(term))
        break
      default:
    }
  }

  #visitVariable(term: Term & { readonly type: 'var' }): void {
    const isRule = this.#names.rulePath([term]) !== undefined && !this.#names.isDocument(term.value)
    if (isRule) this.#use(term, true)
    if (isRule || this.#variables.bound.has(term.value)) this.#texts.add(term.value)
  }

  #visitRef(steps: readonly Term[], term: Term): void {
    const [head, ...members] = steps
    this.#use(term, true)
    if (head === undefined || this.#callsFunction(term)) return
    if (head.type === 'var') {
      const isLocal = !this.#names.globals.has(head.value)
      if (isLocal && !this.#variables.bound.has(head.value)) return
      if (members.length === 0 && this.#names.isDocument(head.value)) return
    } else if (this.#omitsCalls || !this.#isKnown(head)) return
    const shown = members.map((member) => (this.#isPlain(member) ? member : ANY))
    this.#texts.add(printTerm({ type: 'ref', value: [head, ...shown] }))
    for (const member of shown) if (member.type === 'ref' || member.type === 'var') this.#visit(member)
  }

  #namesRule(term: Term): boolean {
    const [head] = stepsOf(term)
    return head?.type === 'var' && this.#names.globals.has(head.value) && head.value !== 'input'
  }

  /** Notes the rule or function of a term. */
  #use(term: Term, showsArguments: boolean): void {
    const path = this.#names.rulePath(stepsOf(term))
    if (path === undefined) return
    const args = term.type === 'call' ? term.value.slice(1) : undefined
    const isShown = showsArguments && args?.every((operand) => this.#isPlain(operand)) === true
    const call = isShown ? `[${args.map((operand) => printTerm(operand)).join(', ')}]` : undefined
    if (call !== undefined) this.#calls.add(call)
    this.#used.set(JSON.stringify([path, call]), { path, call, isCall: args !== undefined })
  }

  /** True if a term has no calls and no variables without a value. */
  #isPlain(term: Term): boolean {
    if (SCALARS.includes(term.type)) return true
    if (term.type === 'var')
      return (
        !isWildcard(term) && (this.#variables.bound.has(term.value) || this.#names.globals.has(term.value))
      )
    if (term.type === 'ref' || term.type === 'array' || term.type === 'set')
      return term.value.every((inner) => this.#isPlain(inner))
    return term.type === 'object' && term.value.flat().every((inner) => this.#isPlain(inner))
  }

  /** True if no variable of a term, also within comprehensions, lacks a value. */
  #isKnown(term: Term): boolean {
    if (term.type === 'templatestring' || (term.type === 'call' && term.value.some(hasWildcard))) return false
    const own = variablesOf([term], this.#names.globals)
    if ([...own].some((name) => !this.#variables.bound.has(name))) return false
    return ![...everyVariable(term)].some((name) => this.#variables.unbound.has(name))
  }

  /** True if a term calls a function of the policies, comprehensions excluded. */
  #callsFunction(term: Term): boolean {
    switch (term.type) {
      case 'call':
        return (
          this.#isFunction(term.value[0]) || term.value.slice(1).some((inner) => this.#callsFunction(inner))
        )
      case 'ref':
      case 'array':
      case 'set':
        return term.value.some((inner) => this.#callsFunction(inner))
      case 'object':
        return term.value.flat().some((inner) => this.#callsFunction(inner))
      default:
        return false
    }
  }

  #isFunction(operator: Term | undefined): boolean {
    const [head] = operator?.type === 'ref' ? operator.value : []
    return head?.type === 'var' && this.#names.globals.has(head.value)
  }
}

/** True if an operand has a `_`, which only a reference to a collection can bind. */
function hasWildcard(term: Term): boolean {
  if (term.type === 'array' || term.type === 'set') return term.value.some(hasWildcard)
  return term.type === 'object' ? term.value.flat().some(hasWildcard) : isWildcard(term)
}

/** The steps of a reference, or of the name of a called function. */
function stepsOf(term: Term): readonly Term[] {
  if (term.type === 'ref') return term.value
  const [operator] = term.type === 'call' ? term.value : []
  return operator === undefined ? [term] : stepsOf(operator)
}

/** Returns all names in a term, with those in comprehensions. */
function everyVariable(term: Term): Set<string> {
  const found = new Set<string>()
  const visitBody = (body: Body): void => {
    for (const { terms, with: modifiers = [] } of body) {
      if (isCall(terms)) terms.forEach(visit)
      else if (isDeclaration(terms)) terms.symbols.forEach(visit)
      else if (isEvery(terms)) {
        visit(terms.domain)
        visitBody(terms.body)
      } else visit(terms)
      modifiers.forEach(({ value }) => visit(value))
    }
  }
  const visit = (inner: Term): void => {
    switch (inner.type) {
      case 'var':
        found.add(inner.value)
        break
      case 'ref':
      case 'array':
      case 'set':
      case 'call':
        inner.value.forEach(visit)
        break
      case 'object':
        inner.value.flat().forEach(visit)
        break
      case 'arraycomprehension':
      case 'setcomprehension':
        visit(inner.value.term)
        visitBody(inner.value.body)
        break
      case 'objectcomprehension':
        visit(inner.value.key)
        visit(inner.value.value)
        visitBody(inner.value.body)
        break
      case 'templatestring':
        visitBody(inner.value.parts.flatMap((part) => ('terms' in part ? [part] : [])))
        break
      default:
    }
  }
  visit(term)
  return found
}
