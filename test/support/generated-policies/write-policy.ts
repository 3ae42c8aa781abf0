import type { Choices } from './choices.js'

/**
 * A package of rules that read one another, including conflicts and unions, and the paths to
 * evaluate.
 */
export interface GeneratedPolicy {
  readonly name: string
  readonly text: string
  readonly paths: readonly (readonly string[])[]
}

const SCALARS = ['1', '2', '"a"', '"b"', 'true', 'false', 'null', '0']
const VALUES = [
  ...SCALARS,
  '[1, 2]',
  '["a"]',
  '[]',
  '{"a": 1}',
  '{"a": {"b": 2}, "b": 1}',
  '{1, 2}',
  'set()',
  '{"a", "b"}',
  '[[1, "a"], [2, "b"]]',
  '{"a": [1], "b": [2]}',
]
const READS = [
  'input.a',
  'input.b',
  'input.c.d',
  'input.l[0]',
  'input.o.a',
  'input.l',
  'input.o',
  'data.base.n',
  'data.base.o.a',
  'data.base.l[1]',
  'data.base.l',
  'data.base.o',
  'input',
]
const FAILING = [
  'to_number(input.b)',
  '1 / input.z',
  'json.unmarshal(input.b)',
  'count(input.a)',
  'upper(input.a)',
]
const PATTERNS = ['[V, _]', '[_, V]', '[V]', '{"a": V}', '{"a": V, "b": _}', '[1, V]', '[[V, _], _]', 'V']

type Kind = 'complete' | 'set' | 'object' | 'function' | 'nested' | 'dynamic'

interface Rule {
  readonly name: string
  readonly kind: Kind
}

/** Rego v1 generated from `choices`, including policies that OPA refuses. */
export function writePolicy(name: string, choices: Choices): GeneratedPolicy {
  const rules: Rule[] = []
  const texts: string[] = []
  const count = 2 + choices.below(4)
  for (let number = 0; number < count; number++) {
    const kind = choices.one<Kind>([
      'complete',
      'complete',
      'complete',
      'set',
      'object',
      'function',
      'nested',
      'dynamic',
    ])
    const rule = { name: `r${number}`, kind }
    texts.push(...new RuleWriter(name, choices, rules).write(rule))
    rules.push(rule)
  }
  const paths = rules.flatMap((rule) => pathsOf(rule).map((path) => [name, ...path]))
  return {
    name,
    text: `package ${name}\n\nimport rego.v1\n\n${texts.join('\n\n')}\n`,
    paths: [[name], ...paths],
  }
}

function pathsOf({ name, kind }: Rule): string[][] {
  if (kind === 'function') return []
  if (kind === 'complete' || kind === 'set') return [[name]]
  return [[name], [name, 'a'], [name, 'b'], [name, 'a', 'b']]
}

/** Writes the definitions of one rule, which may read those before it. */
class RuleWriter {
  readonly #packageName: string
  readonly #choices: Choices
  readonly #rules: readonly Rule[]
  #variables: string[] = []
  #made = 0

  constructor(packageName: string, choices: Choices, rules: readonly Rule[]) {
    this.#packageName = packageName
    this.#choices = choices
    this.#rules = rules
  }

  write({ name, kind }: Rule): string[] {
    const choices = this.#choices
    const definitions = 1 + choices.below(3)
    const texts: string[] = []
    const hasDefault = (kind === 'complete' || kind === 'function') && choices.chance(0.25)
    if (hasDefault) texts.push(`default ${name}${kind === 'function' ? '(_)' : ''} := ${choices.one(VALUES)}`)
    for (let number = 0; number < definitions; number++) texts.push(this.#definition(name, kind))
    return texts
  }

  #definition(name: string, kind: Kind): string {
    this.#variables = kind === 'function' ? ['x'] : []
    const body = this.#body(1 + this.#choices.below(3))
    const value = this.#term()
    const key = this.#key()
    const heads: Readonly<Record<Kind, () => string>> = {
      complete: () => `${name} := ${value}`,
      set: () => `${name} contains ${value}`,
      object: () => `${name}[${key}] := ${value}`,
      function: () => `${name}(x) := ${value}`,
      nested: () =>
        this.#choices.one([
          `${name}.a := ${value}`,
          `${name}.b contains ${value}`,
          `${name}.a.b := ${value}`,
          `${name}["c"].d[${key}] := ${value}`,
        ]),
      dynamic: () =>
        this.#choices.one([
          `${name}[${key}] contains ${value}`,
          `${name}[${key}].b := ${value}`,
          `${name}[${key}][${this.#key()}] := ${value}`,
          `${name}[${key}].b contains ${value}`,
        ]),
    }
    const text = `${heads[kind]()} if {\n${indent(body)}\n}`
    const takesElse = (kind === 'complete' || kind === 'function') && this.#choices.chance(0.25)
    if (!takesElse) return text
    this.#variables = kind === 'function' ? ['x'] : []
    const otherwise = this.#body(1)
    return `${text} else := ${this.#term()} if {\n${indent(otherwise)}\n}`
  }

  #body(statements: number): string[] {
    const lines: string[] = []
    for (let number = 0; number < statements; number++) lines.push(this.#statement())
    return lines
  }

  #statement(): string {
    const choices = this.#choices
    const forms: readonly (() => string)[] = [
      () => 'true',
      () => `${this.#reading()} == ${choices.one(SCALARS)}`,
      () => this.#reading(),
      () => this.#pattern(),
      () => this.#pattern(),
      () => this.#pattern(),
      () => `not ${this.#reading()}`,
      () => `not ${this.#reading()} == ${choices.one(SCALARS)}`,
      () => this.#iteration(),
      () => this.#iteration(),
      () => this.#assignment(this.#term()),
      () => `every e in ${this.#reading()} {\n${indent([`e != ${this.#term()}`])}\n}`,
      () => `${this.#reading()}${this.#modifier()}`,
      () => this.#assignment(`${this.#reading()}${this.#modifier()}`),
      () => `${choices.one(FAILING)} != 7`,
      () => `${this.#term()} in ${this.#reading()}`,
      () => `${this.#comprehension()} != ${choices.one(VALUES)}`,
      () => `${this.#reading()} ${choices.one(['<', '>', '!=', '=', '=='])} ${this.#reading()}`,
    ]
    return choices.one(forms)()
  }

  /** The variable is new, so that the value does not read it. */
  #assignment(value: string): string {
    return `${this.#variable()} := ${value}`
  }

  #modifier(): string {
    const choices = this.#choices
    const target = choices.one([
      'input',
      'input.a',
      'data.base.n',
      ...this.#names(['complete', 'complete', 'set']),
    ])
    return ` with ${target} as ${choices.one([...VALUES, ...READS])}`
  }

  #names(kinds: readonly Kind[]): string[] {
    return this.#rules.flatMap(({ name, kind }) =>
      kinds.includes(kind) ? [`data.${this.#packageName}.${name}`] : [],
    )
  }

  #iteration(): string {
    const from = this.#reading()
    const [first, second] = [this.#fresh(), this.#fresh()]
    return this.#choices.one([
      `some ${first} in ${from}`,
      `some ${first}, ${second} in ${from}`,
      `${second} := ${from}[${first}]`,
      `some [${first}, _] in ${from}`,
    ])
  }

  #pattern(): string {
    const from = this.#reading()
    const pattern = this.#choices.one(PATTERNS).replace('V', () => this.#variable())
    return this.#choices.chance(0.5) ? `${pattern} = ${from}` : `${from} = ${pattern}`
  }

  #comprehension(): string {
    const from = this.#reading()
    return this.#choices.one([
      `[v | v := ${from}[_]]`,
      `{v | v := ${from}[_]}`,
      `{k: v | v := ${from}[k]}`,
      `[v | [v, _] = ${from}]`,
      `{v | some v in ${from}}`,
    ])
  }

  /** A term that reads something: of the request, the data or a rule before. */
  #reading(): string {
    const choices = this.#choices
    if (this.#rules.length === 0 || choices.chance(0.3)) return choices.one(READS)
    const { name, kind } = choices.one(this.#rules)
    if (kind === 'function') return `${name}(${this.#term()})`
    return `${name}${choices.one(['', '', '', '.a', '.b', '[_]', '[0]', '.a.b', `[${this.#key()}]`])}`
  }

  #key(): string {
    return this.#choices.one(['"a"', '"b"', 'input.k', 'input.b', ...this.#variables])
  }

  #term(): string {
    const choices = this.#choices
    const forms = [
      choices.one(VALUES),
      choices.one(SCALARS),
      ...this.#variables,
      ...this.#variables,
      choices.one(READS),
    ]
    if (choices.chance(0.1)) return this.#comprehension()
    if (choices.chance(0.1)) return `[${choices.one(forms)}, ${choices.one(forms)}]`
    if (choices.chance(0.1)) return choices.one(FAILING)
    if (choices.chance(0.15)) return this.#reading()
    return choices.one(forms)
  }

  #variable(): string {
    return this.#fresh()
  }

  #fresh(): string {
    this.#made += 1
    const name = `v${this.#made}`
    this.#variables.push(name)
    return name
  }
}

function indent(lines: readonly string[]): string {
  return lines.map((line) => `\t${line.replaceAll('\n', '\n\t')}`).join('\n')
}
