import { describe, expect, it } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { redactSecrets } from '../../../src/lib/redaction/redact.js'
import { MAX_NESTING } from '../../../src/lib/json/scan/nesting.js'
import { base64Json, flattened, pipelineEvent } from '../../support/orchestrator-events.js'

function redactText(json: string) {
  const { text, count, names } = redactSecrets(Buffer.from(json))
  return { text: text.toString(), count, names }
}

function redact(value: unknown): unknown {
  return JSON.parse(redactText(JSON.stringify(value)).text)
}

describe('the members that hold secrets', () => {
  it.each([
    'password',
    'Password',
    'DB_PASSWORD',
    'pass-word',
    'passwd',
    'passphrase',
    'token',
    'accessToken',
    'X-Gitlab-Token',
    'ACCESS_TOKEN',
    'secret',
    'client.secret',
    'apiKey',
    'api_key',
    'API Key',
    'apikey',
    'x-api-key',
    'privateKey',
    'PRIVATE-KEY',
    'awsSecretAccessKey',
    'credential',
    'credentials',
    'Authorization',
    'Set-Cookie',
    'kubeconfig',
  ])('%s', (name) => {
    expect(redact({ a: [{ [name]: 'hunter2', other: 'x' }] })).toEqual({
      a: [{ [name]: '[redacted]', other: 'x' }],
    })
  })

  it.each([
    'application',
    'key',
    'keepWaitingPipelines',
    'authentication',
    'monkey',
    'passed',
    'bypass',
    'name',
  ])('not %s', (name) => {
    expect(redact({ [name]: 'x', token: 't' })).toEqual({ [name]: 'x', token: '[redacted]' })
  })

  it('for any value', () => {
    expect(redact({ token: { id: 1, value: ['x'] }, secrets: ['a', 'b'], password: 1234 })).toEqual({
      token: '[redacted]',
      secrets: '[redacted]',
      password: '[redacted]',
    })
  })

  it('but not values that give nothing away', () => {
    const harmless = { token: null, secret: false, password: '', secrets: [], credentials: {}, apiKey: true }
    expect(redactText(JSON.stringify(harmless))).toEqual({
      text: JSON.stringify(harmless),
      count: 0,
      names: [],
    })
  })

  it('each time a name is repeated, and when it is written with escapes', () => {
    expect(redactText(String.raw`{"pass\u0077ord":"a","password":"b","password":null}`)).toEqual({
      text: String.raw`{"pass\u0077ord":"[redacted]","password":"[redacted]","password":null}`,
      count: 2,
      names: ['password'],
    })
  })
})

describe('other places of secrets', () => {
  it('are the headers of the request, each of which is known by more names', () => {
    const details = {
      requestHeaders: {
        'X-Gitlab-Token': ['t'],
        authorization: ['Basic x'],
        'X-Hub-Signature': ['sha1=x'],
        'X-Auth-User-Id': ['x'],
        'User-Agent': ['curl'],
      },
      attributes: { signature: 'kept' },
    }
    expect(redact({ details })).toEqual({
      details: {
        requestHeaders: {
          'X-Gitlab-Token': '[redacted]',
          authorization: '[redacted]',
          'X-Hub-Signature': '[redacted]',
          'X-Auth-User-Id': '[redacted]',
          'User-Agent': ['curl'],
        },
        attributes: { signature: 'kept' },
      },
    })
  })

  it('are values labelled by a sibling member, in either order', () => {
    const env = [
      { name: 'DB_PASSWORD', value: 'hunter2' },
      { value: 'hunter2', key: 'apiToken' },
      { name: 'LOG_LEVEL', value: 'debug' },
    ]
    expect(redact({ env })).toEqual({
      env: [
        { name: 'DB_PASSWORD', value: '[redacted]' },
        { value: '[redacted]', key: 'apiToken' },
        { name: 'LOG_LEVEL', value: 'debug' },
      ],
    })
  })

  it('are the data of a Kubernetes Secret', () => {
    expect(redact([{ data: { a: 'eA==' }, kind: 'Secret', metadata: { name: 's' } }])).toEqual([
      { data: '[redacted]', kind: 'Secret', metadata: { name: 's' } },
    ])
    expect(redact([{ kind: 'ConfigMap', data: { a: 'eA==' } }, 'secret'])).toEqual([
      { kind: 'ConfigMap', data: { a: 'eA==' } },
      'secret',
    ])
  })

  it('are private keys in any text', () => {
    const pem = '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----'
    expect(redact({ motd: pem, other: 'x' })).toEqual({ motd: '[redacted]', other: 'x' })
  })
})

describe('JSON inside texts', () => {
  const content = { context: { password: 'hunter2', note: 'kept "as is"' } }
  const clean = { context: { password: '[redacted]', note: 'kept "as is"' } }

  it('is redacted in place', () => {
    const event = { ...pipelineEvent(), content }
    const { content: text } = redact(flattened(event)) as { content: string }
    expect(JSON.parse(text)).toEqual(clean)
  })

  it('is redacted inside texts inside texts', () => {
    const twice = { outer: JSON.stringify({ inner: JSON.stringify(content) }) }
    expect(redact(twice)).toEqual({ outer: JSON.stringify({ inner: JSON.stringify(clean) }) })
  })

  it('is redacted inside Base64', () => {
    expect(redact({ pipeline: base64Json(content) })).toEqual({ pipeline: base64Json(clean) })
    expect(redact({ pipelines: base64Json([content]) })).toEqual({ pipelines: base64Json([clean]) })
  })

  it('is left alone where it holds none', () => {
    const kept = { a: '{"password"', b: 'eyJ1c2VyIjoiYW5hIn0.x', c: '[token] expired', token: null }
    expect(redact(kept)).toEqual(kept)
  })

  it('is redacted completely if it is nested too deeply', () => {
    const deep = `{"token":"x","a":${'['.repeat(MAX_NESTING + 1)}${']'.repeat(MAX_NESTING + 1)}}`
    expect(redact({ deep })).toEqual({ deep: '[redacted]' })
    let nested = base64Json(content)
    for (let level = 0; level < 10; level++) nested = base64Json({ a: nested })
    expect(JSON.stringify(redact({ nested }))).not.toContain(base64Json(content).slice(0, 20))
  })
})

describe('the redacted text', () => {
  it('is the very bytes where there is no secret', () => {
    const json = Buffer.from(JSON.stringify(pipelineEvent()))
    expect(redactSecrets(json).text).toBe(json)
  })

  it('keeps everything else byte for byte', () => {
    const json = '{ "n" : 12345678901234567890, "token" : "t" , "é": "\\u00e9" }'
    expect(redactText(json)).toEqual({
      text: '{ "n" : 12345678901234567890, "token" : "[redacted]" , "é": "\\u00e9" }',
      count: 1,
      names: ['token'],
    })
  })

  it('counts and names redacted values, including those inside strings', () => {
    const value = { b: { token: 'x' }, a: JSON.stringify({ password: 'y', token: 'z' }) }
    expect(redactText(JSON.stringify(value))).toMatchObject({ count: 3, names: ['password', 'token'] })
  })

  it('a value with a secret name is redacted completely, even if part of it is recognized by its form', () => {
    const text = 'first the url https://bot:s3cret@ci.example, then the rest'
    const variable = { name: 'DB_PASSWORD', value: text }
    expect(redact([variable])).toEqual([{ ...variable, value: '[redacted]' }])
  })

  it('numbers may stay for readers that count with them, other values by the same name may not', () => {
    const json = Buffer.from('{"token":-1.5,"secret":["x"],"password":"7","apiKey":7}')
    expect(redactSecrets(json, { keepsNumbers: true }).text.toString()).toBe(
      '{"token":-1.5,"secret":"[redacted]","password":"[redacted]","apiKey":7}',
    )
  })

  it('stays as it is when it is redacted again', () => {
    const value = { token: 'x', env: [{ name: 'SECRET', value: 'y' }], p: base64Json({ password: 'z' }) }
    const once = redactSecrets(Buffer.from(JSON.stringify(value)))
    expect(redactSecrets(once.text)).toEqual({ text: once.text, count: 0, names: [], values: [] })
  })

  it('cannot be made from a document that is too deep or broken', () => {
    const deep = `{"token":${'['.repeat(3)}"x"]]],"a":${'['.repeat(50_000)}`
    for (const json of [deep, '{"token":"x"', '{"token" "x"}'])
      expect(() => redactText(json)).toThrow(AppError)
  })
})
