import fc from 'fast-check'

import { RegoNumber, RegoObject } from '../../../src/rego/values/value.js'
import type { RegoValue } from '../../../src/rego/values/value.js'
import { part, text } from './texts.js'
import { integer, value } from './values.js'

const joined = (...pieces: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...pieces).map((each) => each.join(''))
const from = (...texts: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...texts)
/** Mostly `good`, and now and then one of its letters missing or twice, or another text. */
const mostly = (good: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: good },
    fc.tuple(good, fc.nat(40)).map(([whole, at]) => whole.slice(0, at) + whole.slice(at + 1)),
    fc.tuple(good, fc.nat(40)).map(([whole, at]) => whole.slice(0, at) + whole.slice(Math.max(0, at - 1))),
    text,
  )
const twoDigits = (max: number): fc.Arbitrary<string> =>
  fc.integer({ min: 0, max }).map((digits) => String(digits).padStart(2, '0'))
const zone = from(
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  '',

  'Nowhere/Else',
)

const date = joined(
  from('2024', '1999', '0001', '9999', '2023', '1600'),
  from('-'),
  twoDigits(13),
  from('-'),
  twoDigits(32),
)
const clock = joined(
  twoDigits(24),
  from(':'),
  twoDigits(60),
  from(':'),
  twoDigits(60),
  from('', '.5', '.123456789', '.1234567891', ',25'),
)
export const rfc3339 = mostly(
  joined(date, from('T', 't', ' '), clock, from('Z', 'z', '+02:00', '-07:30', '+24:00', '')),
)
export const layout = from(
  '2006-01-02',
  '2006-01-02T15:04:05Z07:00',
  'RFC1123',
  'RFC3339',
  'ANSIC',
  '02 Jan 06 15:04 MST',
  '3:04PM',
  '15:04:05.000',
  '__2 2006',
  'Monday',
  '.999',
  'x',
)
export const written = fc.oneof(
  rfc3339,
  mostly(date),
  from(
    'Mon, 02 Jan 2006 15:04:05 MST',
    '02 Jan 06 15:04 CET',
    '3:04PM',
    '12:04AM',
    '10:00:00.123',
    '366 2024',
    'Monday',
  ),
)
export const duration = mostly(
  fc
    .array(
      joined(
        from('1', '0', '1.5', '.5', '-2', '+3', '9223372036', '1e3'),
        from('ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'd', ''),
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((each) => each.join('')),
)
const moment = fc.oneof(
  fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }).map((digits) => new RegoNumber(String(digits))),
  integer,
)
/** A moment by itself, or in a zone. */
export const time: fc.Arbitrary<RegoValue> = fc.oneof(
  moment,
  fc.tuple(moment, zone),
  fc.tuple(moment, from('UTC')),
)
/** With a layout. */
export const formatted: fc.Arbitrary<RegoValue> = fc.oneof(time, fc.tuple(moment, zone, layout))
export const nanoseconds: fc.Arbitrary<RegoValue> = moment

export const unit = mostly(
  joined(
    from('', '-', '+', ' '),
    from('0', '1', '10', '1.5', '.5', '1.', '1e3', '1_0', '007', '123456789012345678901'),
    from('', ' '),
    from('', 'k', 'K', 'Ki', 'ki', 'M', 'Mi', 'm', 'G', 'gb', 'GiB', 'KB', 'E', 'Ei', 'P', 'T', 'b', 'x'),
  ),
)
const version = joined(
  from('1', '0', '10', '01', '99999999999999999999'),
  from('.'),
  from('0', '2', ''),
  from('.', ''),
  from('3', '0', 'x', ''),
  from('', '-rc.1', '-rc.10', '-0', '-01', '-a.b', '+build', '-alpha+x', '-'),
)
export const semver = mostly(
  fc.oneof(
    version,
    version.map((one) => `v${one}`),
  ),
)
export const hex = mostly(
  fc
    .array(from('0', '9', 'a', 'f', 'A', 'F', 'c3', 'a9', '00', 'g'), { maxLength: 6 })
    .map((each) => each.join('')),
)
export const query = mostly(
  fc
    .array(from('a', 'b', '=', '&', '%20', '%', '+', ';', 'é', '%C3%A9', '%zz', '1', '/', '?'), {
      maxLength: 8,
    })
    .map((each) => each.join('')),
)
export const queryObject: fc.Arbitrary<RegoValue> = fc
  .dictionary(part, fc.oneof(part, fc.array(part, { maxLength: 3 }), value), { maxKeys: 3 })
  .map((record) => RegoObject.fromRecord(record))
export const uuid = mostly(
  from(
    'f47ac10b-58cc-4372-a567-0e02b2c3d479',
    'urn:uuid:f47ac10b-58cc-1372-a567-0e02b2c3d479',
    '{f47ac10b-58cc-0372-a567-0e02b2c3d479}',
    'f47ac10b58cc4372a5670e02b2c3d479',
    '00000000-0000-0000-0000-000000000000',
    'F47AC10B-58CC-6372-C567-0E02B2C3D479',
    '01890a5d-ac96-774b-bcce-b302099a8057',
  ),
)
export const uri = mostly(
  joined(
    from('http', 'HTTPS', 'mailto', 'a+b', '1x', ''),
    from('://', ':', '//', ''),
    from('', 'user@', 'u:p%40@', 'a b@'),
    from('example.com', '[::1]', '127.0.0.1', 'é.example', '', '%41', '[fe80::1%25en0]'),
    from('', ':80', ':', ':x'),
    from('', '/', '/a%2Fb', '/a b', '/é', '/%zz'),
    from('', '?a=b&c', '?', '?a b'),
    from('', '#f', '#', '#%zz'),
  ),
)
export const smallNetwork = mostly(
  joined(
    from('10.0.0.', '192.168.1.', '255.255.255.'),
    from('0', '1', '254', '255'),
    from('/32', '/30', '/28', '/33', '/'),
  ),
)
export const networks = fc.array(
  fc.oneof(smallNetwork, from('10.0.0.0/8', '::/64', '2001:db8::/32', '10.0.0.0/9', '0.0.0.0/0', '10.0.0.5')),
  { maxLength: 5 },
)
export const verbs = fc
  .array(
    fc.oneof(
      part,
      from(
        '%s',
        '%d',
        '%v',
        '%q',
        '%x',
        '%X',
        '%b',
        '%f',
        '%.2f',
        '%5d',
        '%-5s|',
        '%05d',
        '%+d',
        '%g',
        '%t',
        '%c',
        '%%',
        '%',
        '%[1]d',
        '%[2]v',
        '%*d',
        '%!',
      ),
    ),
    { maxLength: 4 },
  )
  .map((each) => each.join(''))
export const yaml = mostly(
  fc
    .array(
      from(
        'a: 1\n',
        'b: [1, 2.0, 0x1f]\n',
        '- x\n',
        '  c: ~\n',
        'd: "é"\n',
        'e: |\n  text\n',
        'f: {g: h}\n',
        'h: &i 1\nj: *i\n',
        'k: 2024-01-02\n',
        'l: yes\n',
        'm: 1_000\n',
        '---\n',
        'n: .inf\n',
        '? o\n: p\n',
        'q: 0o17\n',
      ),
      { maxLength: 4 },
    )
    .map((each) => each.join('')),
)
export const template = mostly(
  fc
    .array(
      from(
        '{{.a}}',
        '{{ .b.c }}',
        '{{if .a}}x{{else}}y{{end}}',
        '{{range .d}}<{{.}}>{{end}}',
        '{{ "q" | printf "%q" }}',
        'text ',
        '{{- .a -}}',
        '{{len .d}}',
        '{{eq .a 1}}',
        '{{/* no */}}',
        '{{',
      ),
      { maxLength: 4 },
    )
    .map((each) => each.join('')),
)
const token = (head: string, body: string, end: string): string =>
  [head, body].map((json) => Buffer.from(json).toString('base64url')).join('.') + end
export const jwt = mostly(
  fc
    .tuple(
      from(
        '{"alg":"HS256","typ":"JWT"}',
        '{"alg":"none"}',
        '{"alg":"RS256","kid":"a"}',
        '{}',
        '[]',
        '{"alg":"HS256","cty":"JWT"}',
      ),
      from('{"iss":"a","exp":1}', '{"sub":"é","n":1.50}', '{}', '[]', '"x"', '{"aud":["a","b"],"nbf":0}'),
      from('.c2ln', '.', '', '.a.b', '.!!'),
    )
    .map((parts) => token(...parts)),
)
export const secret = from(
  'secret',
  '',
  'a',
  '{"kty":"oct","k":"c2VjcmV0"}',
  '{"keys":[]}',
  '-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n',
)
export const constraints: fc.Arbitrary<RegoValue> = fc
  .record(
    {
      secret: part,
      alg: from('HS256', 'HS512', 'none'),
      iss: from('a', 'b'),
      time: moment,
      aud: from('a', 'c'),
    },
    { requiredKeys: ['secret'] },
  )
  .map((record) => RegoObject.fromRecord(record))
const schemaValue = from(
  '{"type":"string"}',
  '{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}',
  '{"enum":[1,"x"]}',
  '{"minimum":2}',
  '{"type":["null","boolean"]}',
  '{"type":"nothing"}',
  '{"pattern":"^a+$"}',
  '{"items":{"type":"number"},"uniqueItems":true}',
  '{"anyOf":[{"type":"string"},{"maxItems":1}]}',
  '[]',
  '{"$ref":"#/definitions/x"}',
  'true',
)
export const schema = mostly(schemaValue)
export const instance = fc.oneof(
  value.filter((one) => one instanceof RegoObject),
  from('"text"', '{"a":1}', '{"a":"x"}', '[1,1]', 'null', '3', '"aa"', '{'),
)
export const graphqlQuery = mostly(
  from(
    '{ a }',
    'query Q($x: Int) { a(x: $x) }',
    '{ b { c } }',
    'mutation { m }',
    '{ a a: b { c } }',
    'fragment F on B { c } { b { ...F } }',
    '{',
    '{ d }',
  ),
)
export const graphqlSchema = mostly(
  from(
    'type Query { a(x: Int): String b: B } type B { c: Int! }',
    'type Query { a: Nowhere }',
    'type B { c: Int }',
    'schema { query: R } type R { a: String }',
    'enum E { X Y } type Query { a: E }',
    'interface I { a: Int } type Query implements I { a: Int }',
    'union U = Query type Query { a: Int }',
  ),
)
const operation: fc.Arbitrary<RegoValue> = fc
  .record(
    {
      op: from('add', 'remove', 'replace', 'move', 'copy', 'test', 'other'),
      path: fc.oneof(
        from('/a', '/a/b', '', '/0', '/-', '/a~1b', 'a', '/b/0'),
        fc.array(from('a', 'b', '0'), { maxLength: 2 }),
      ),
      from: from('/a', '/b', '/nowhere'),
      value,
    },
    { requiredKeys: ['op', 'path'] },
  )
  .map((record) => RegoObject.fromRecord(record))
export const patches = fc.array(operation, { maxLength: 3 })
export const marshalOptions: fc.Arbitrary<RegoValue> = fc
  .record(
    { pretty: fc.boolean(), indent: from('  ', '\t', ''), prefix: from('', '> ') },
    { requiredKeys: [] },
  )
  .map((record) => RegoObject.fromRecord(record))
