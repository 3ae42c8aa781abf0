import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { redactInline } from '../../../src/lib/redaction/inline-secrets.js'
import { redactSecrets } from '../../../src/lib/redaction/redact.js'
import { PLANTED, SECRET } from '../../support/planted-secrets.js'

const redacted = (json: string): string => redactSecrets(Buffer.from(json)).text.toString()

describe('a secret', () => {
  it.each(PLANTED)('%s is in no redacted text at any depth and in any encoding', (_, value) => {
    const base64 = Buffer.from(JSON.stringify(value)).toString('base64')
    const asText = JSON.stringify(value)
    const places = [
      value,
      [value],
      { a: { b: [value] } },
      { a: asText },
      { a: JSON.stringify({ asText }) },
      { base64 },
    ]
    for (const place of places) {
      for (const json of [
        JSON.stringify(place),
        JSON.stringify(place, null, 2),
        escaped(JSON.stringify(place)),
      ]) {
        const text = redacted(json)
        expect(() => JSON.parse(text) as unknown).not.toThrow()
        expect(plain(text)).not.toContain(SECRET)
      }
    }
  })

  it.each(PLANTED)('%s leaves its neighbours unchanged', (_, value) => {
    expect(JSON.parse(redacted(JSON.stringify({ beside: 'in plain sight', value })))).toMatchObject({
      beside: 'in plain sight',
    })
  })
})

it.each([
  'https://example.org/a?b=c#d',
  'ssh://git@example.org/repo.git',
  'the token has expired',
  'password must not be empty',
  'basic authentication is off',
  'user@example.org asked at 10:30',
  'arn:aws:secretsmanager:eu-west-1:123456789012:thing/one',
  'sha256:0b1c2d3e4f',
  'mkdir -p /srv/app2 && docker run -u 1000:1000 -p 8080:80 app',
  'docker login --password-stdin registry2.example.org',
  'docker run -p 8080:80 login-page',
  'pass=80 marginal=60 bypass=yes dbpassed=3',
  'https://example.org/api/webhooks/12/a1',
  'curl -s https://example.org/health',
  'if token > 5 then <b>stop</b>',
  'a%20b=c%2Fd',
])('%s is no secret', (text) => {
  expect(redactInline(text)).toBeUndefined()
})

it.each([
  [['password', 'username']],
  [['token', 'secret']],
  [['secrets-sync', 'frontend-v2']],
  [['the token has expired', 'again in 5s']],
  [['password', 'a1', 'b2']],
  [['mkdir', '-p', '/srv/app2']],
  [['docker', 'run', '-u', '1000:1000', '-p8080:80']],
  [['login', '--password-stdin', 'registry2']],
  [['docker', 'run', '-p', '8080:80']],
  [['redis-server', '-a', 'x1']],
])('the list %j is kept', (list) => {
  const json = JSON.stringify({ list, auth: { type: 'none' }, Key: 'stage', Value: 'v2' })
  expect(redacted(json)).toBe(json)
})

it('the text around a secret is kept', () => {
  const text = 'cannot clone https://ana:hunter2@git.example.org/a?token=hunter2&b=c today'
  expect(redactInline(text)?.text).toBe(
    'cannot clone https://[redacted]@git.example.org/a?token=[redacted]&b=c today',
  )
})

it('redacting again changes nothing, and nothing breaks the JSON', () => {
  const leaf = fc.oneof(
    fc.constantFrom(...PLANTED.map(([, value]) => value)),
    fc.string(),
    fc.constantFrom('password=', '://a:b@', 'eyJ', '"token": "', '\\', '{"a":"b://c:d@e"}', 'Bearer 1234567'),
  )
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.double(),
      fc.array(tie('json'), { maxLength: 4 }),
      fc.dictionary(
        fc.oneof(fc.string(), fc.constantFrom('token', 'headers', 'name', 'value')),
        tie('json'),
        {
          maxKeys: 4,
        },
      ),
    ),
  }))
  fc.assert(
    fc.property(json, (value) => {
      const once = redacted(JSON.stringify(value))
      expect(() => JSON.parse(once) as unknown).not.toThrow()
      expect(redacted(once)).toBe(once)
    }),
    { numRuns: 300 },
  )
})

it('takes linear time for any text', () => {
  const parts = [
    'eyJ',
    'a',
    '-',
    '://',
    ':',
    '@',
    'password',
    'token: ',
    'secret=',
    'Bearer ',
    'glpat-',
    '?sig',
    'curl ',
    'mysql -p',
    'docker login ',
    'redis-cli ',
    'hooks.slack.com/',
    'db_pass',
    ' --token ',
    'token: >\n  ',
    '<token>',
    'p%61',
    ' =>',
    ' ',
  ]
  const timeOf = (text: string): number => {
    const start = performance.now()
    redactInline(text)
    return performance.now() - start
  }
  for (const one of parts) {
    for (const other of parts.slice(parts.indexOf(one))) {
      // A quadratic pattern takes far longer for this; a linear one some milliseconds.
      expect(timeOf((one + other).repeat(6000))).toBeLessThan(2500)
    }
  }
})

function escaped(json: string): string {
  return json.replaceAll('/', '\\/').replaceAll('@', '\\u0040').replaceAll('p', '\\u0070')
}

/** A text with everything in it that a reader could decode. */
function plain(text: string): string {
  const decoded = [...text.matchAll(/[A-Za-z0-9+/]{16,}={0,2}/g)].map(([run]) =>
    Buffer.from(run, 'base64').toString(),
  )
  return [text, ...decoded].join('\n')
}
