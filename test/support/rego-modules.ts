import fc from 'fast-check'

const NAMES = ['hours', 'close', 'limits', 'max', 'a_b'] as const
const name = fc.constantFrom(...NAMES)
const local = fc.constantFrom('x', 'y', 'z')

const segment = fc.oneof(
  name.map((word) => `.${word}`),
  fc.constantFrom('["a-b"]', '["with \\"quotes\\" # and [signs]"]', '[0]', '[12]', '[`raw`]'),
  local.map((word) => `[${word}]`),
  name.map((word) => `[data.index.${word}]`),
)
const reference = fc
  .tuple(fc.constantFrom('data', 'data', 'h', 'input'), fc.array(segment, { minLength: 1, maxLength: 4 }))
  .map(([base, segments]) => base + segments.join(''))
const literal = fc.constantFrom('1', '"data.not.read"', '`data.not.read`', 'true', 'null', '[]', '1.5e3')

const { expression } = fc.letrec<{ expression: string }>((tie) => {
  const inner = tie('expression')
  return {
    expression: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      reference,
      literal,
      fc.tuple(inner, inner).map(([a, b]) => `[${a}, ${b}]`),
      fc.tuple(inner, inner).map(([a, b]) => `{"data": ${a}, "k": ${b}}`),
      inner.map((value) => `count(${value})`),
      inner.map((value) => `[v | v := ${value}]`),
      fc.tuple(inner, inner).map(([a, b]) => `{v | some v in ${a}; v != ${b}}`),
      inner.map((value) => `{v: w | some v, w in ${value}}`),
    ),
  }
})

const statement = fc.oneof(
  expression.map((value) => `x := ${value}`),
  expression.map((value) => `some y in ${value}`),
  fc.tuple(expression, expression).map(([a, b]) => `every z in ${a} { z != ${b} }`),
  reference.map((value) => `not ${value} # data.comment.here`),
  fc
    .tuple(reference, reference, expression)
    .map(([read, target, value]) => `${read} with ${target.replace(/^(?:h|input)\b/, 'data')} as ${value}`),
  fc.tuple(expression, expression).map(([a, b]) => `[p, q] := [${a},\n\t\t${b}]`),
)
const body = fc.array(statement, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n\t'))
const rule = fc.oneof(
  body.map((lines) => `deny contains x if {\n\t${lines}\n}`),
  fc.tuple(expression, body).map(([value, lines]) => `limit := ${value} if {\n\t${lines}\n}`),
  expression.map((value) => `f(x) := ${value}`),
  expression.map((value) => `ok if ${value}`),
  expression.map((value) => `ok if\n\t${value}`),
  reference.map((value) => `other := ${value}`),
)

/**
 * Modules of version 1 that OPA parses and that need not compile. Names that an import gives are
 * declared by nothing else in them.
 */
export function regoModule(): fc.Arbitrary<string> {
  return fc
    .tuple(fc.array(rule, { minLength: 1, maxLength: 5 }), reference)
    .map(([rules]) =>
      [
        'package static.generated',
        'import rego.v1',
        'import data.imported.hours as h',
        '',
        ...rules,
        '',
      ].join('\n'),
    )
}
