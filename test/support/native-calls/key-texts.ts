import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { z } from 'zod'

import { RegoNumber, RegoObject } from '../../../src/rego/values/value.js'
import type { RegoValue } from '../../../src/rego/values/value.js'
import { part, text } from './texts.js'
import { document, small, value } from './values.js'

const Cases = z.looseObject({ keys: z.record(z.string(), z.string()) })

/** The PEM texts that the cases of a family are made of. */
function pemsOf(family: string): readonly string[] {
  const file = new URL(`../../cases/builtins/${family}.json`, import.meta.url)
  return Object.values(Cases.parse(JSON.parse(readFileSync(file, 'utf8'))).keys)
}

const PEMS = ['x509', 'x509-chains', 'jwt'].flatMap(pemsOf)
const from = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values)
const onePem = from(...PEMS)

const rearranged = fc
  .tuple(
    onePem,
    from<(pem: string) => string>(
      (pem) => pem.replaceAll('\n', '\r\n'),
      (pem) => pem.replaceAll('\n', ''),
      (pem) => `words before\n${pem}words behind`,
      (pem) => pem.replace(/-----END[^]*/, ''),
      (pem) => pem.replace(/BEGIN ([A-Z ]+)/, 'BEGIN X$1'),
      (pem) => pem.replace('-----\n', '-----\nProc-Type: 4\nX: y\n\n'),
      (pem) => Buffer.from(pem).toString('base64'),
      (pem) => pem.replaceAll(/-----[^-]+-----|\s/g, ''),
      (pem) => pem.trim(),
    ),
  )
  .map(([pem, change]) => change(pem))

/** Replaces, repeats or removes a character or byte of an encoded text, or truncates it. */
const damaged = fc
  .tuple(
    onePem,
    fc.nat(),
    fc.nat(255),
    from<(bytes: number[], at: number, byte: number) => void>(
      (bytes, at, byte) => void bytes.splice(at, 1, byte),
      (bytes, at, byte) => void bytes.splice(at, 1, (bytes[at] ?? 0) ^ (1 << (byte & 7))),
      (bytes, at) => void bytes.splice(at, 1),
      (bytes, at, byte) => void bytes.splice(at, 0, byte),
      (bytes, at) => void bytes.splice(at),
    ),
    fc.boolean(),
  )
  .map(([pem, place, byte, damage, isText]) => {
    if (isText) return applyDamage(pem, 'latin1', place, byte, damage)
    return pem.replace(/(?<=-----\n)[\w+/=\n]+(?=-----END)/, (body) => {
      const text = applyDamage(body.replaceAll('\n', ''), 'base64', place, byte, damage)
      return text.replaceAll(/.{1,64}/g, '$&\n')
    })
  })

function applyDamage(
  text: string,
  encoding: 'latin1' | 'base64',
  place: number,
  byte: number,
  damage: (bytes: number[], at: number, byte: number) => void,
): string {
  const bytes = [...Buffer.from(text, encoding)]
  damage(bytes, place % bytes.length, byte)
  return Buffer.from(bytes).toString(encoding)
}

/** Certificates, requests and keys: as they are, several together, in other forms, and damaged. */
export const pem = fc.oneof(
  { weight: 4, arbitrary: onePem },
  { weight: 3, arbitrary: damaged },
  { weight: 2, arbitrary: fc.array(onePem, { minLength: 2, maxLength: 4 }).map((list) => list.join('')) },
  { weight: 2, arbitrary: rearranged },
  { weight: 1, arbitrary: text },
)
export const verifyOptions: fc.Arbitrary<RegoValue> = fc
  .record(
    {
      DNSName: from('leaf.example.com', 'example.com', '', 'LEAF.example.com', '10.0.0.1'),
      CurrentTime: from(
        RegoNumber.of(1_800_000_000_000_000_000n),
        RegoNumber.of(0),
        new RegoNumber('1e18'),
        RegoNumber.of(-1),
      ),
      KeyUsages: fc.array(from('KeyUsageAny', 'KeyUsageServerAuth', 'KeyUsageClientAuth', 'nothing'), {
        maxLength: 2,
      }),
      MaxConstraintComparisons: small,
      Other: value,
    },
    { requiredKeys: [] },
  )
  .map((record) => RegoObject.fromRecord(record))

const secretKey = RegoObject.fromRecord({
  kty: 'oct',
  k: 'AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow',
})
export const signingKey: fc.Arbitrary<RegoValue> = fc.oneof(
  { weight: 5, arbitrary: fc.constant(secretKey) },
  {
    weight: 1,
    arbitrary: from<RegoValue>(
      RegoObject.fromRecord({ kty: 'oct', k: '' }),
      RegoObject.fromRecord({ kty: 'oct', k: '!!' }),
      RegoObject.fromRecord({ kty: 'oct' }),
      RegoObject.fromRecord({ kty: 'RSA', k: 'AQAB' }),
      RegoObject.fromRecord({ kty: 'oct', k: 'c2VjcmV0', alg: 'HS512', use: 'enc', kid: 'x' }),
      RegoObject.fromRecord({ k: 'c2VjcmV0' }),
    ),
  },
)
export const signingHeader: fc.Arbitrary<RegoValue> = fc
  .record(
    {
      alg: from('HS256', 'HS384', 'HS512', 'hs256', 'none', 'RS256', ''),
      typ: from<RegoValue>('JWT', 'jwt', 'text/plain', null, RegoNumber.of(1)),
      kid: part,
      crit: from<RegoValue>(['b64'], [], 'b64'),
      b64: fc.boolean(),
      other: value,
    },
    { requiredKeys: ['alg'] },
  )
  .map((record) => RegoObject.fromRecord(record))
export const signingHeaderText = fc.oneof(
  from(
    '{"alg":"HS256"}',
    '{ "typ" : "JWT", "alg":"HS512" }',
    '{"typ":"text/plain","alg":"HS256"}',
    '{}',
    '[]',
    '',

    '{"typ":1,"alg":"HS256"}',
  ),
  text,
)
export const payload = fc.oneof(document, value)
export const payloadText = fc.oneof(
  from('{"a": 1.50}', '{}', '[1]', '"x"', 'no json', '', ' {"b":2} ', '{"a":1}{}', '{"e":"<é>"}'),
  text,
)
export const signingKeyText = fc.oneof(
  from(
    '{"kty":"oct","k":"c2VjcmV0"}',
    '{ "kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ" }',
    '{"kty":"oct","k":"c2VjcmV0","x":1}',
    '{}',
    '',
    '[]',
  ),
  text,
)

export const awsRequest: fc.Arbitrary<RegoValue> = fc
  .record(
    {
      method: from('get', 'PUT', '', 'delete'),
      url: from(
        'https://examplebucket.s3.amazonaws.com/a b?x=1&y',
        'https://s3.amazonaws.com',
        'http://user@h:8080/%2F/../é?b=2&a=1&a=0&c=%20+',
        'https://h/?=x&&y=a=b',
        '//h/path;p=1#f',
        'no url',
        '',
        'https://h/%zz',
      ),
      headers: from<RegoValue>(
        RegoObject.fromRecord({}),
        RegoObject.fromRecord({ 'Content-Type': 'text/plain', B: '  two  blanks ' }),
        RegoObject.fromRecord({ host: 'other', 'X-Amz-Date': 'mine', authorization: 'x' }),
        RegoObject.fromRecord({ n: RegoNumber.of(1) }),
        RegoObject.fromRecord({ 'User-Agent': 'a', e: 'é', Z: '' }),
        null,
      ),
      body: payload,
      raw_body: payloadText,
      timeout: small,
    },
    { requiredKeys: ['method', 'url'] },
  )
  .map((record) => RegoObject.fromRecord(record))
export const awsConfig: fc.Arbitrary<RegoValue> = fc
  .record(
    {
      aws_access_key: from('AKIDEXAMPLE', '', 'é'),
      aws_secret_access_key: from('wJalrXUtnFEMI', '', 'é\n'),
      aws_service: from('s3', 'glacier', 'es', '', 'S3'),
      aws_region: from('us-east-1', '', 'a b'),
      aws_session_token: from<RegoValue>('token', '', null),
      disable_payload_signing: from<RegoValue>(true, false, 'true'),
    },
    { requiredKeys: ['aws_access_key', 'aws_secret_access_key', 'aws_service', 'aws_region'] },
  )
  .map((record) => RegoObject.fromRecord(record))
