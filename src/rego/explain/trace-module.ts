import type { RegoModule } from '../modules/rego-module.js'
import { isEvery, isWildcard, printEveryHead, printExpression, printTerm, segmentText } from './print-tree.js'
import type { Replace } from './print-tree.js'
import type { Annotation, Body, Expression, Labels, SyntaxTree, Term, TreeRule } from './syntax-tree.js'
import { ENTERED, HELD, MARKER } from '../tracing/trace.js'
import { RESULT } from './traced-body.js'
import type { SourceLocation, TracedBody, TracedCondition, TracedDefinition } from './traced-body.js'
import { ModuleNames } from './module-names.js'
import { findOperands } from './find-operands.js'
import type { Operands } from './find-operands.js'
import { boundBy, operandsOf, orderBody, variablesOf } from './variables.js'

/** A module with markers, and its definitions. */
export interface TracedModule {
  readonly module: RegoModule
  readonly definitions: readonly TracedDefinition[]
}

/** Longest text of a condition, in characters. */
const MAX_TEXT = 160
/** Names of values in markers, and of parameters without a name. */
const [VALUE, PARAMETER] = ['tidegate_value', 'tidegate_parameter']

/**
 * Returns a module with a call of `sprintf` before each condition and after the last one of
 * each body. The calls show the operands of the condition, and always hold. Rules stay on their
 * lines. `firstId` numbers the bodies.
 */
export function traceModule(
  module: RegoModule,
  tree: SyntaxTree,
  packageRules: ReadonlySet<string>,
  firstId: number,
): TracedModule {
  const tracer = new ModuleTracer(module, tree, packageRules, firstId)
  const head = [`package ${packageText(module)}`, ...tree.imports.map(importText)].join(' ')
  const pieces = [
    { row: tree.packageRow, text: head },
    ...tree.rules.map((rule) => ({ row: rule.location?.row ?? 0, text: tracer.trace(rule) })),
    // `rego.metadata.rule` reads annotations.
    ...tree.annotations.map(({ location }) => ({ row: location?.row ?? 0, text: location?.text ?? '' })),
  ]
  let text = ''
  let row = 1
  for (const piece of pieces.filter(({ text: own }) => own !== '').toSorted((a, b) => a.row - b.row)) {
    text += `${'\n'.repeat(Math.max(text === '' ? 0 : 1, piece.row - row))}${piece.text}`
    row = Math.max(row + (text === piece.text ? 0 : 1), piece.row) + piece.text.split('\n').length - 1
  }
  return { module: { ...module, text: `${text}\n` }, definitions: tracer.definitions }
}

function packageText({ packagePath }: RegoModule): string {
  const [first = '', ...rest] = packagePath
  return `${first}${rest.map((segment) => `[${JSON.stringify(segment)}]`).join('')}`
}

function importText({ path, alias }: SyntaxTree['imports'][number]): string {
  const segments = path.type === 'ref' ? path.value : []
  const [first = '', ...rest] = segments.map(segmentText)
  const isKeyword = first === 'rego' || first === 'future'
  const name = `${first}${rest.map((step) => (isKeyword ? `.${step}` : `[${JSON.stringify(step)}]`)).join('')}`
  return `import ${name}${alias === undefined ? '' : ` as ${alias}`}`
}

class ModuleTracer {
  readonly definitions: TracedDefinition[] = []
  readonly #module: RegoModule
  readonly #tree: SyntaxTree
  readonly #names: ModuleNames
  readonly #lines: readonly string[]
  readonly #containsMeansSet: boolean
  #nextId: number

  constructor(module: RegoModule, tree: SyntaxTree, packageRules: ReadonlySet<string>, firstId: number) {
    this.#module = module
    this.#tree = tree
    this.#names = ModuleNames.ofModule(module, tree, packageRules)
    this.#lines = module.text.split('\n')
    this.#containsMeansSet =
      module.version === 1 ||
      tree.imports.some(({ path }) => path.type === 'ref' && path.value[0]?.value === 'future')
    this.#nextId = firstId
  }

  /** Returns the source of a rule with markers, on one line. */
  trace(rule: TreeRule): string {
    const { head } = rule
    if (rule.default === true) {
      this.#define(rule, { id: this.#id(), conditions: [], shown: [], uses: [] }, false)
      const value = head.value === undefined ? 'true' : printTerm(head.value)
      return `default ${this.#headRef(rule)}${argumentsText(head.args, nameParameters())} ${head.assign === true ? ':=' : '='} ${value}`
    }
    const names = nameParameters()
    const parameters = argumentsText(head.args, names)
    const key = head.key !== undefined && head.value === undefined ? resultText(head.key) : undefined
    const value =
      head.value === undefined ? '' : ` ${head.assign === true ? ':=' : '='} ${resultText(head.value)}`
    const ref = this.#headRef(rule)
    const start =
      key === undefined
        ? `${ref}${parameters}${value}`
        : this.#containsMeansSet
          ? `${ref} contains ${key}`
          : `${ref}[${key}]`
    return `${start} ${this.#bodyAndElse(rule, parameters, false)}`
  }

  #bodyAndElse(rule: TreeRule, parameters: string, isElse: boolean): string {
    const id = this.#id()
    const { text, body } = this.#body(rule, id, parameters)
    this.#define(rule, body, isElse)
    const opened = `${this.#module.version === 1 ? 'if ' : ''}{ ${text} }`
    const other = rule.else
    if (other === undefined) return opened
    const value = other.head.value === undefined ? '' : ` = ${resultText(other.head.value)}`
    return `${opened} else${value} ${this.#bodyAndElse(other, parameters, true)}`
  }

  #body(rule: TreeRule, id: string, parameters: string): { text: string; body: TracedBody } {
    const { head } = rule
    const names = this.#names.within([...(head.args ?? []), ...(head.ref ?? []).slice(1)], rule.body)
    const bound = variablesOf(head.args ?? [], names.globals)
    const entry = parameters === '' ? [] : [marker(id, ENTERED, [`[${parameters.slice(1, -1)}]`])]
    const { texts, conditions, last } = this.#conditions(withResult(rule), id, names, bound)
    const isSet = head.key !== undefined && head.value === undefined
    const value = isSet ? head.key : head.value
    const key = isSet ? undefined : head.key
    const values = [
      value === undefined ? 'true' : resultText(value),
      key === undefined ? '"-"' : printTerm(key),
    ]
    const held = marker(id, HELD, [...values, ...last.texts, ...last.calls])
    return {
      text: [...entry, ...texts, held].join('; '),
      body: { id, conditions, shown: last.texts, uses: last.uses },
    }
  }

  #conditions(
    body: Body,
    id: string,
    names: ModuleNames,
    before: ReadonlySet<string>,
  ): { texts: string[]; conditions: TracedCondition[]; last: Operands } {
    const bound = new Set(before)
    const unbound = new Set(
      body
        .flatMap((one) => [...variablesOf(operandsOf(one), names.globals)])
        .filter((name) => !bound.has(name)),
    )
    const variables = { bound, unbound }
    const texts: string[] = []
    const conditions: TracedCondition[] = []
    for (const [step, expression] of orderBody(body, bound, names.globals).entries()) {
      const operands = findOperands([expression], variables, names)
      texts.push(marker(id, String(step), [...operands.texts, ...operands.calls]))
      const nested = isEvery(expression.terms)
        ? this.#every(expression, `${id}/${step}`, names, bound)
        : undefined
      texts.push(nested?.text ?? printExpression(expression))
      conditions.push({
        ...this.#locate(expression),
        isNegated: expression.negated === true,
        operands: operands.texts,
        uses: operands.uses,
        every: nested?.body,
      })
      for (const name of boundBy(expression, names.globals)) {
        bound.add(name)
        unbound.delete(name)
      }
    }
    return { texts, conditions, last: findOperands(body, variables, names, { omitsCalls: true }) }
  }

  #every(
    expression: Expression,
    id: string,
    names: ModuleNames,
    bound: ReadonlySet<string>,
  ): { text: string; body: TracedBody } | undefined {
    const { terms } = expression
    if (!isEvery(terms) || expression.negated === true || expression.with !== undefined) return undefined
    const own = [...(terms.key ? [terms.key] : []), terms.value]
    const inner = names.within(own, terms.body)
    const known = new Set([...bound, ...variablesOf(own, inner.globals)])
    const { texts, conditions } = this.#conditions(terms.body, id, inner, known)
    const shown = [...variablesOf(own, inner.globals)]
    const entry = marker(id, ENTERED, [`[${shown.join(', ')}]`])
    const text = `${printEveryHead(terms)} { ${[entry, ...texts, marker(id, HELD, [])].join('; ')} }`
    return { text, body: { id, conditions, shown, uses: [] } }
  }

  #define(rule: TreeRule, body: TracedBody, isElse: boolean): void {
    const { head } = rule
    const rulePath = constantPath(rule)
    this.definitions.push({
      ...body,
      ...this.#locate(rule),
      packagePath: this.#module.packagePath,
      rulePath,
      isDefault: rule.default === true,
      isElse,
      isFunction: head.args !== undefined,
      labels: this.#labelsOf(rule, rulePath),
    })
  }

  #headRef({ head: { ref, name = '', key, value } }: TreeRule): string {
    const terms = ref ?? [{ type: 'var' as const, value: name }]
    // Some releases list the key of a set in the reference.
    const isSet = key !== undefined && value === undefined
    const last = terms.at(-1)
    const steps =
      isSet && terms.length > 1 && last?.type === 'var' && key.type === 'var' && last.value === key.value
        ? terms.slice(0, -1)
        : terms
    return printTerm({ type: 'ref', value: steps })
  }

  /** The location and text of a node; the text of the line if the tree has none. */
  #locate({ location }: { readonly location?: Expression['location'] }): SourceLocation & { text: string } {
    const { row = 1, col = 1, text = '' } = location ?? {}
    const source = this.#lines[row - 1] ?? ''
    const shown = (text === '' ? source.slice(col - 1) : text).replace(/\s+/g, ' ').trim()
    const short = shown.length > MAX_TEXT ? `${shown.slice(0, MAX_TEXT)} …` : shown
    return { file: this.#module.file, row, col, source, text: short }
  }

  /** The annotations of a rule: the last one above it, and those of the document. */
  #labelsOf({ location }: TreeRule, path: readonly string[]): Labels {
    const row = location?.row ?? 0
    const rules = this.#tree.rules.map((rule) => ({ rule, row: rule.location?.row ?? 0 }))
    const isFor = ({ scope, location: at }: Annotation): boolean => {
      const first = rules.find((other) => other.row > (at?.row ?? 0))
      if (first === undefined) return false
      if (scope === 'rule') return first.row === row
      return scope === 'document' && constantPath(first.rule).join('.') === path.join('.')
    }
    const found = this.#tree.annotations.findLast(isFor)
    return found === undefined ? {} : labelsOnly(found)
  }

  #id(): string {
    return String(this.#nextId++)
  }
}

/** The labels of an annotation. */
export function labelsOnly({ title, description, custom }: Labels): Labels {
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(custom !== undefined && { custom }),
  }
}

function constantPath({ head: { ref, name = '' } }: TreeRule): string[] {
  const terms = ref ?? [{ type: 'var' as const, value: name }]
  const end = terms.findIndex(({ type }, place) => place > 0 && type !== 'string')
  return terms.slice(0, end === -1 ? undefined : end).map(segmentText)
}

const CALCULATED: readonly Term['type'][] = [
  'ref',
  'call',
  'arraycomprehension',
  'setcomprehension',
  'objectcomprehension',
  'templatestring',
]

/** True for a value with calls or references, which may be undefined. */
function isCalculated(term: Term): boolean {
  if (term.type === 'array' || term.type === 'set') return term.value.some(isCalculated)
  if (term.type === 'object') return term.value.flat().some(isCalculated)
  return CALCULATED.includes(term.type)
}

/** The source of a rule's value, which is calculated in the body. */
function resultText(term: Term): string {
  return isCalculated(term) ? RESULT : printTerm(term)
}

/** The body of a rule; with the calculation of its value as the last condition, if there is one. */
function withResult({ body, head }: TreeRule): Body {
  const value = head.value ?? head.key
  if (value === undefined || !isCalculated(value)) return body
  const { location } = value
  const operator: Term = { type: 'ref', value: [{ type: 'var', value: 'assign' }] }
  return [...body, { terms: [operator, { type: 'var', value: RESULT }, value], location }]
}

/** Gives parameters that are `_` a name, so that markers can show them. */
function nameParameters(): Replace {
  let next = 0
  return (term) => (isWildcard(term) ? `${PARAMETER}${next++}` : undefined)
}

function argumentsText(args: readonly Term[] | undefined, names: Replace): string {
  return args === undefined ? '' : `(${args.map((term) => printTerm(term, names)).join(', ')})`
}

/**
 * The call that reports a step: a string of the host, which takes an array of any values. Undefined
 * operands give empty arrays. Sets would be hashed.
 */
function marker(id: string, step: string, operands: readonly string[]): string {
  const lists = operands.map((operand) => `[${VALUE} | ${VALUE} = ${operand}]`)
  return `sprintf("${MARKER}${id}:${step}", [${lists.join(', ')}])`
}
