import fc from 'fast-check'

/** A package of generated policies and the rules in it. */
export interface GeneratedPackage {
  /** Its path below `data`; the first segment is a name. */
  readonly path: readonly string[]
  readonly rules: readonly string[]
  /** Base documents in addition to the rules. */
  readonly data: Readonly<Record<string, unknown>>
}

/** A name of packages, rules and keys: common ones, so that they meet, and odd ones. */
const NAMES = [
  'a',
  'b',
  'deny',
  'allow',
  'violation',
  'main',
  'a/b',
  '1',
  '01',
  '%2F',
  '100%',
  '..',
  'A',
  'é',
  ' ',
  '+',
]
/** Escapes and other characters in paths of requests. */
const MANGLED = [
  '',
  '.',
  '..',
  '%2e%2e',
  '%2E',
  '%00',
  '%2F',
  '%2f',
  '+',
  '%2B1',
  '%3F',
  '%23',
  '%22',
  '%5C',
  '%252F',
  '%25',
  ';a=b',
  ',',
  '%C3',
  '%ff',
  '%zz',
  '%',
  '-1',
  '0',
  '1',
  '01',
  'a%2Fb',
  'x'.repeat(300),
]

const name = fc.constantFrom(...NAMES)
const scalar = fc.constantFrom(
  'null',
  'true',
  'false',
  '0',
  '1',
  '""',
  '"a"',
  '"no"',
  'input.text',
  'input.flag',
)
const value = fc.oneof(
  scalar,
  fc.constantFrom('[]', '{}', 'set()', '{1}', '[[]]'),
  fc.array(scalar, { maxLength: 3 }).map((members) => `[${members.join(', ')}]`),
  fc.array(scalar, { minLength: 1, maxLength: 3 }).map((members) => `{${members.join(', ')}}`),
  fc.dictionary(name, scalar, { maxKeys: 3 }).map(objectText),
  fc
    .dictionary(name, fc.dictionary(name, scalar, { maxKeys: 2 }).map(objectText), { maxKeys: 2 })
    .map(objectText),
)
const condition = fc.constantFrom('true', 'false', 'input.flag', 'not input.flag', 'input.text == "a"')
const ruleName = fc.constantFrom('deny', 'deny', 'violation', 'allow', 'allow', 'a', 'b', 'main')

const rule = fc.oneof(
  fc.tuple(ruleName, value, condition).map(([head, body, when]) => `${head} := ${body} if ${when}`),
  fc.tuple(ruleName, value).map(([head, body]) => `default ${head} := ${constant(body)}`),
  fc.tuple(ruleName, scalar, condition).map(([head, body, when]) => `${head} contains ${body} if ${when}`),
  fc
    .tuple(ruleName, name, value, condition)
    .map(([head, key, body, when]) => `${head}[${JSON.stringify(key)}] := ${body} if ${when}`),
)

const baseDocuments = fc.dictionary(
  fc.constantFrom('deny', 'violation', 'allow', 'main', 'base'),
  fc.constantFrom<unknown>(true, false, null, [], ['no'], {}, { a: 'no' }, { allow: true }, 'no', 0),
  { minKeys: 1, maxKeys: 3 },
)

/**
 * Up to six packages below one root; a rule of a name has one form only, so that most sets compile.
 */
export const policySet: fc.Arbitrary<readonly GeneratedPackage[]> = fc.uniqueArray(
  fc.record({
    path: fc.array(name, { maxLength: 2 }).map((path) => ['p', ...path]),
    data: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: baseDocuments }),
    rules: fc.uniqueArray(rule, { maxLength: 4, selector: (text) => /^(?:default )?(\w+)/.exec(text)?.[1] }),
  }),
  { minLength: 2, maxLength: 6, selector: ({ path }) => JSON.stringify(path) },
)

/** An input in the orchestrator's flat form. */
export const flatInput = fc.record({
  startTime: fc.constant(1),
  application: fc.constant('shop'),
  name: fc.constant('prod'),
  stage: fc.constant('Policy'),
  executionId: fc.constant('01J0'),
  payloadConstraint: fc.constant([]),
  user: fc.constant('ana'),
  flag: fc.constantFrom(true, false, null),
  text: fc.constantFrom('a', '', 'b'),
})

/** Paths as sent, below `/v1/data/`: of the packages and their rules, further down, and mangled. */
export function pathFor(packages: readonly GeneratedPackage[]): fc.Arbitrary<string> {
  const named = fc
    .tuple(fc.constantFrom(...packages), fc.array(name, { maxLength: 2 }))
    .chain(([{ path, rules }, more]) =>
      fc
        .constantFrom('', ...rules.map(ruleNameOf))
        .map((head) => [...path, ...(head === '' ? [] : [head]), ...more]),
    )
  const escaped = named.map((path) => path.map((segment) => encodeURIComponent(segment)).join('/'))
  const mangled = fc
    .tuple(escaped, fc.nat(), fc.constantFrom(...MANGLED), fc.constantFrom('put', 'replace', 'lower', 'cut'))
    .map(([path, at, sign, how]) => mangle(path.split('/'), at, sign, how).join('/'))
  return fc.oneof({ weight: 3, arbitrary: escaped }, { weight: 2, arbitrary: mangled })
}

/** The module of a package, as Rego of version 1. */
export function moduleText({ path: [root = '', ...below], rules }: GeneratedPackage): string {
  const packageName = `${root}${below.map((segment) => `[${JSON.stringify(segment)}]`).join('')}`
  return `package ${packageName}\n\nimport rego.v1\n\n${rules.join('\n\n')}\n`
}

function mangle(segments: readonly string[], at: number, sign: string, how: string): string[] {
  const index = at % segments.length
  if (how === 'put') return [...segments.slice(0, index + 1), sign, ...segments.slice(index + 1)]
  if (how === 'cut') return segments.slice(0, index + 1)
  return segments.map((segment, position) =>
    position !== index ? segment : how === 'lower' ? segment.toLowerCase() : `${segment}${sign}`,
  )
}

function objectText(members: Readonly<Record<string, string>>): string {
  return `{${Object.entries(members)
    .map(([key, text]) => `${JSON.stringify(key)}: ${text}`)
    .join(', ')}}`
}

/** A default may not depend on the input. */
function constant(text: string): string {
  return text.replaceAll('input.text', '"a"').replaceAll('input.flag', 'true')
}

/**
 * The base documents of all packages merged, except those at the path of a rule or a package, and
 * those of packages named by digits, which OPA's type checker does not allow to read.
 */
export function dataText(packages: readonly GeneratedPackage[]): string {
  const keyOf = (path: readonly string[]): string => JSON.stringify(path)
  const rules = new Set(
    packages.flatMap((one) => one.rules.map((text) => keyOf([...one.path, ruleNameOf(text)]))),
  )
  const prefixes = packages.flatMap(({ path }) => path.map((_, length) => keyOf(path.slice(0, length + 1))))
  const taken = new Set([...rules, ...prefixes])
  const root: Record<string, unknown> = {}
  for (const { path, data } of packages) {
    const isBelowRule = path.some((_, length) => rules.has(keyOf(path.slice(0, length + 1))))
    if (isBelowRule || path.some((segment) => /^\d+$/.test(segment))) continue
    for (const [key, value] of Object.entries(data)) {
      if (!taken.has(keyOf([...path, key])))
        path.reduce<Record<string, unknown>>(memberOf, root)[key] ??= value
    }
  }
  return JSON.stringify(root)
}

function memberOf(members: Record<string, unknown>, name: string): Record<string, unknown> {
  members[name] ??= {}
  return members[name] as Record<string, unknown>
}

function ruleNameOf(text: string): string {
  return /^(?:default )?(\w+)/.exec(text)?.[1] ?? ''
}
