/** Policies with lookups of rules by variables, and questions about them. */
export interface LookupSet {
  /** The packages that are looked into, by file name. */
  readonly packages: Readonly<Record<string, string>>
  /** What each question's file begins with. */
  readonly head: string
  /** One rule a line, each a question of its own. */
  readonly questions: readonly string[]
  readonly inputs: readonly unknown[]
}

export interface LookupChoices {
  readonly questions: number
  /** Whether the compiler reads template strings and `import future.keywords.not`. */
  readonly isLatest: boolean
}

type Random = () => number
const TEAMS = ['a', 'b', 'c', 'd', 'zz']
const ENVS = ['prod', 'dev', 'zz']
const FIELDS = ['lim', 'v', 'cfg', 's', 'flag']

/** The set of a seed; the same seed always gives the same. */
export function randomLookups(seed: number, { questions, isLatest }: LookupChoices): LookupSet {
  const random = randomFrom(seed)
  const negatesBodies = isLatest && random() < 0.3
  const head = [
    'package q',
    '',
    negatesBodies ? 'import future.keywords' : 'import rego.v1',
    'import data.svc as S',
    '',
    ...['own.a.lim.prod := 9', 'own.b.lim.dev := 4', ownRule(random), 'own.d.v := 3', 'f(x) := x', ''],
  ].join('\n')
  const lines = Array.from({ length: questions }, (_, at) => question(random, at, isLatest, negatesBodies))
  return {
    packages: {
      ...Object.fromEntries(['a', 'b', 'c'].map((name) => [`${name}.rego`, service(random, name)])),
      'data.json': baseData(random),
    },
    head,
    questions: lines,
    inputs: Array.from({ length: 12 }, () => randomInput(random)),
  }
}

function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function pick<T>(random: Random, from: readonly [T, ...T[]] | readonly T[]): T {
  const chosen = from[Math.floor(random() * from.length)]
  if (chosen === undefined) throw new Error('nothing to pick from')
  return chosen
}

function ownRule(random: Random): string {
  return pick(random, [
    'own.c.lim := {"prod": 5}',
    'own.c.lim[k] := v if some k, v in {"prod": 8}',
    'own.c.v := 1',
  ])
}

function service(random: Random, name: string): string {
  const some = FIELDS.flatMap((field) => (random() < 0.75 ? [rulesOf(random, field)] : []))
  const functions = [
    ...(random() < 0.5 ? ['f(x) := x'] : []),
    ...(random() < 0.3 ? ['g.h(x) := x', 'g.v := 9'] : []),
  ]
  return ['package svc.' + name, '', 'import rego.v1', '', 'x := 1', ...functions, ...some, ''].join('\n')
}

function rulesOf(random: Random, field: string): string {
  const value = pick(random, ['9', '4', '{"prod": 3}', '[1, 2]', 'true', 'false'])
  return pick(random, [
    `${field} := ${value}`,
    `${field} := ${value} if input.env == "prod"`,
    `default ${field} := false\n${field} := ${value} if input.env == "dev"`,
    `${field}.prod := ${value}`,
    `${field}.prod := 9\n${field}.dev := ${value}`,
    `${field}.prod.deep := ${value}`,
    `${field}[k] := v if some k, v in {"prod": ${value}, "dev": 7}`,
    `${field} contains w if some w in ["prod", 9, input.env]`,
    `${field} := {"prod": ${value}, "dev": 9}`,
    `${field}(x) := x`,
    `${field}.f(x) := x\n${field}.prod := ${value}`,
  ])
}

function baseData(random: Random): string {
  return pick(random, [
    '{}',
    '{"svc": {"d": {"lim": {"prod": 9, "dev": 1}, "v": 9, "s": ["prod"]}}}',
    '{"svc": {"a": {"other": {"prod": 9}}, "d": {"v": 4, "cfg": {"prod": {"deep": 9}}}}}',
  ])
}

function randomInput(random: Random): unknown {
  const input: Record<string, unknown> = {}
  if (random() < 0.92) input['team'] = pick(random, TEAMS)
  if (random() < 0.92) input['env'] = pick(random, ENVS)
  if (random() < 0.9) input['field'] = pick(random, FIELDS)
  if (random() < 0.9) input['teams'] = TEAMS.filter(() => random() < 0.5)
  return input
}

/** A reference by variables; `bound` are those that have a value already. */
function reference(random: Random, bound: readonly string[]): string {
  const base = pick(random, ['data.svc', 'data.svc', 'S', 'own'])
  const team = pick(random, [
    '[input.team]',
    '[input.team]',
    '[_]',
    '.a',
    '["b"]',
    ...bound.map((name) => `[${name}]`),
  ])
  const field = pick(random, [
    '.lim',
    '.lim',
    '.v',
    '.cfg',
    '.s',
    '[input.field]',
    '.other',
    '.x',
    '[_]',
    '.g',
    '.f',
  ])
  const last = pick(random, [
    '',
    '',
    '.prod',
    '[input.env]',
    '["dev"]',
    '[_]',
    '.prod.deep',
    '[input.env].deep',
  ])
  return base + team + field + last
}

/** One that is ground once `bound` have values, as a negation asks for. */
function groundReference(random: Random, bound: readonly string[]): string {
  const found = reference(random, bound)
  return found.includes('_') ? groundReference(random, bound) : found
}

function condition(random: Random, bound: readonly string[], isNegated = false): string {
  const ref = (): string => (isNegated ? groundReference(random, bound) : reference(random, bound))
  return pick<() => string>(random, [
    () => ref(),
    () => `${ref()} == ${pick(random, ['9', '4', '{"prod": 3}', '{1: 9, 2: 4}[1]', 'f(9)', 'false'])}`,
    () => `${ref()} > 3`,
    () => `${ref()} != 9`,
    () => `9 == ${ref()}`,
    () => `${ref()} == ${ref()}`,
    () => `f(${ref()}) == 9`,
    () => `f(${ref()})`,
    () => `9 in ${ref()}`,
    () => `"prod" in ${ref()}`,
    () => `count(${ref()}) > 0`,
    () => `object.get(${ref()}, "prod", 0) == 9`,
    () => `[${ref()}, 1] == [9, 1]`,
    () => `{"k": ${ref()}}.k == 9`,
    () => `${ref()} == 9 with input.team as "b"`,
    () => `${ref()} with input.env as "prod" with input.team as "a"`,
    () => `walk(${ref()}, [["prod"], 9])`,
    () => `count([y | y := ${reference(random, bound)}]) == 1`,
    () => `count({y | some y in ${reference(random, bound)}}) > 1`,
    () => `count([y | some z in ["a", "b", "c"]; y := ${reference(random, [...bound, 'z'])}]) > 1`,
  ])()
}

function question(random: Random, at: number, isLatest: boolean, negatesBodies: boolean): string {
  const name = `r${at}`
  const bound = random() < 0.4 ? ['t'] : []
  const binds =
    bound.length > 0
      ? pick(random, ['some t in input.teams; ', 't := input.team; ', 'some t in ["a", "c"]; '])
      : ''
  const negated = (): string => condition(random, bound, true)
  const plain = (): string => condition(random, bound)
  const ref = (): string => reference(random, bound)
  const forms: (() => string)[] = [
    () => `${name} if { ${binds}${plain()} }`,
    () => `${name} if { ${binds}not ${negated()} }`,
    () => `${name} if { ${binds}not ${negated()} }`,
    () => `${name} if { ${binds}not ${negated()}; ${plain()} }`,
    () => `${name} contains y if { ${binds}y := ${ref()} }`,
    () => `${name} contains y if { ${binds}some y in ${ref()} }`,
    () => `${name} contains [k, y] if { ${binds}some k, y in ${ref()} }`,
    () =>
      `${name} contains k if { ${binds}some k; ${ref()
        .replace('[_]', '[k]')
        .replace(/\[input\.\w+\]/, '[k]')} }`,
    () => `${name} := [y | ${binds}y := ${ref()}]`,
    () => `${name} := {y | ${binds}some y in ${ref()}}`,
    () => `${name} := {k: y | some k in ["a", "b"]; y := count([z | z := ${reference(random, ['k'])}])}`,
    () => `${name} if { ${binds}every y in ${groundReference(random, bound)} { y != 4 } }`,
    () => `${name} if { ${binds}every y in ["a", "b"] { ${condition(random, [...bound, 'y'])} } }`,
    () => `${name} if { ${binds}every y in ["a", "d"] { not ${condition(random, [...bound, 'y'], true)} } }`,
    () => `${name} if { ${binds}not ${negated()} } else := 2 if { ${binds}${plain()} }`,
    () => `${name} := [y | ${binds}not ${negated()}; y := 1]`,
    () =>
      `${name} contains y if { ${binds}some z in ["a", "b"]; not ${condition(random, [...bound, 'z'], true)}; y := z }`,
    () => unification(random, name),
    () => unification(random, name),
  ]
  if (isLatest) {
    forms.push(() => `${name} := $"x {${groundReference(random, [])}} y"`)
    forms.push(() => `${name} := $"x {count([1 | ${condition(random, [])}])} y"`)
    forms.push(() => `${name} := $"x {count([1 | not ${condition(random, [], true)}])} y"`)
  }
  if (negatesBodies) {
    forms.push(() => `${name} if { ${binds}not { ${plain()} } }`)
    forms.push(() => `${name} if { ${binds}not { some y in ${ref()}; y != 4 } }`)
    forms.push(
      () =>
        `${name} contains t if { some t in ["a", "b", "c"]; not { some y in ${reference(random, ['t'])}; y != 4 } }`,
    )
    forms.push(() => `${name} contains t if { some t in [1, 5, 2]; not { t > 3; t < 9 } }`)
    forms.push(() => `${name} contains t if { some t in input.teams; not { some e in ["a", "d"]; e == t } }`)
    forms.push(
      () => `${name} contains t if { some t in input.teams; not { every e in ["a", "d"] { e != t } } }`,
    )
  }
  return pick(random, forms)()
}

/** An equation of two collections with variables on both sides. */
function unification(random: Random, name: string): string {
  const term = (): string => pick(random, ['x', 'y', 'z', 'x', 'y', '5', 'input.env', '6'])
  const side = (): string => {
    const [one, other] = [term(), term()]
    return pick(random, [`[${one}, ${other}]`, `[${one}, ${other}]`, `[[${one}], ${other}]`])
  }
  const object = (): string => `{"a": ${term()}, "b": ${term()}}`
  const make = random() < 0.6 ? side : object
  const before = pick(random, ['', 'y := 5; ', 'x := "prod"; '])
  const last = pick(random, ['', 'x = 5; ', 'y = 5; '])
  return `${name} := [x, y, z] if { z := 5; ${before}${last}${make()} = ${make()} }`
}
