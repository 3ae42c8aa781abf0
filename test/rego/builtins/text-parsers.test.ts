import fc from 'fast-check'
import { beforeAll, test } from 'vitest'

import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { outcomeOf } from '../../support/builtin-outcome.js'

/** A parser: its built-in, its operands (the mutated one replaces `$`), and well-formed texts. */
const PARSERS: readonly (readonly [builtin: string, operands: string, wellFormed: readonly string[]])[] = [
  ['yaml.unmarshal', '[$]', ['a: [1, {b: "x"}]\n', '- &a 1\n- *a\n- |\n  text\n', '!!int "1"']],
  [
    'graphql.parse_query',
    '[$]',
    ['query Q($a: [Int!] = [1]) { a(b: $a) @skip(if: true) { ...F } }', '{ a "" }'],
  ],
  [
    'graphql.parse_schema',
    '[$]',
    ['type Query implements A & B { a(b: Int = 1): [A!]! @c }', 'union U = | A | B'],
  ],
  ['semver.compare', '[$, "1.0.0"]', ['1.2.3-alpha.1+build.5', '0.0.0']],
  ['units.parse', '[$]', ['10.5Gi', '-1e3m', '"3K"']],
  ['units.parse_bytes', '[$]', ['10.5GiB', '1e3kb', '"3K"']],
  ['time.parse_duration_ns', '[$]', ['-1h2m3.5s', '9223372036854775807ns', '.5us']],
  ['time.parse_rfc3339_ns', '[$]', ['2024-02-29T23:59:60.123456789+14:00', '0001-01-01T00:00:00Z']],
  ['time.parse_ns', '[$, $]', ['2006-01-02T15:04:05.000Z07:00', 'Mon Jan _2 MST 2006']],
  ['net.cidr_expand', '[$]', ['10.0.0.0/30', '2001:db8::/126', '::ffff:10.0.0.1/128']],
  ['net.cidr_merge', '[[$, "10.0.0.0/8"]]', ['10.0.0.0/30', '2001:db8::/126']],
  ['net.cidr_is_valid', '[$]', ['10.0.0.0/30', '2001:db8::/126']],
  ['io.jwt.decode', '[$]', ['eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2ln', 'e30.e30.']],
  [
    'io.jwt.verify_rs256',
    '["e30.e30.", $]',
    ['-----BEGIN PUBLIC KEY-----\nMAA=\n-----END PUBLIC KEY-----\n', '{"keys":[{}]}'],
  ],
  [
    'crypto.x509.parse_certificates',
    '[$]',
    ['-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n', 'MAA='],
  ],
  [
    'crypto.x509.parse_certificate_request',
    '[$]',
    ['-----BEGIN CERTIFICATE REQUEST-----\nMAA=\n-----END CERTIFICATE REQUEST-----\n'],
  ],
  ['crypto.parse_private_keys', '[$]', ['-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n']],
  [
    'strings.render_template',
    '[$, {"a": [1, {"b": "x"}]}]',
    ['{{range $i, $v := .a}}{{printf "%d %v" $i $v}}{{else}}{{end}}', '{{with .a}}{{len .}}{{end}}'],
  ],
  ['glob.quote_meta', '[$]', ['*.example', '{a,b}[!c-d]']],
  ['regex.globs_match', '[$, "a.b*"]', ['[a-c]+.b*', 'a\\.b+']],
  ['regex.template_match', '[$, "urn:a:1", "{", "}"]', ['urn:{[a-z]+}:{\\d{1}}', 'urn:a:{.*}']],
  ['regex.replace', '["abcab", $, "x"]', ['(a|b)+c?', '(?i:[[:alpha:]]{2,3})\\pL\\b']],
  ['regex.replace', '["abcab", "(?P<n>a)(b)", $]', ['$1-${n}$$', '${2}x']],
  ['regex.is_valid', '[$]', ['(?P<n>a)\\x{10ffff}', 'a{1000}']],
  [
    'json.match_schema',
    '[{"a": [1]}, $]',
    ['{"type":"object","properties":{"a":{"items":{"$ref":"#"}}}}', '{"pattern":"^a+$"}'],
  ],
  ['json.patch', '[{"a": [1]}, [{"op": "add", "path": $, "value": 1}]]', ['/a/-', '/a/0~1~0']],
  ['hex.decode', '[$]', ['00ff', 'abc']],
  [
    'uuid.parse',
    '[$]',
    ['urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8', '{6ba7b810-9dad-11d1-80b4-00c04fd430c8}'],
  ],
  ['urlquery.decode_object', '[$]', ['a=1&b=%20&a=+', '%zz;']],
  ['sprintf', '[$, [1, "a", {"b": 2}]]', ['%5.2f %[1]d %v', '%+-#08x%%']],
]

beforeAll(() => hostBuiltins.prepare(PARSERS.map(([builtin]) => builtin)))

/** A well-formed text with pieces removed, repeated, moved and inserted, or any text. */
function texts(wellFormed: readonly string[]): fc.Arbitrary<string> {
  const anything = fc.string({ unit: 'binary', maxLength: 40 })
  const edit = fc.record({
    at: fc.nat(200),
    drop: fc.nat(4),
    put: fc.oneof(anything, fc.constantFrom(...wellFormed)),
  })
  const mutated = fc
    .tuple(fc.constantFrom(...wellFormed), fc.array(edit, { maxLength: 3 }))
    .map(([text, edits]) =>
      edits.reduce((before, { at, drop, put }) => {
        const place = at % (before.length + 1)
        return before.slice(0, place) + put + before.slice(place + drop)
      }, text),
    )
  return fc.oneof(mutated, mutated, anything)
}

test.each(PARSERS)(
  '%s of %s gives a value or an error of its own for every text',
  (builtin, operands, wellFormed) => {
    const isWellBehaved = (text: string): void => {
      // `outcomeOf` rethrows any other exception, which is a defect.
      outcomeOf(
        hostBuiltins.table,
        builtin,
        operands.replaceAll('$', () => JSON.stringify(Buffer.from(text).toString())),
      )
    }
    fc.assert(fc.property(texts(wellFormed), isWellBehaved), { numRuns: 200 })
  },
)
