import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'

import { makeServiceClient } from '../../../src/cli/session/service-client.js'
import { withStorage } from '../../../src/cli/session/connect-orchestrator.js'
import type { Terminal } from '../../../src/cli/session/terminal.js'
import { OutboundError } from '../../../src/lib/outbound/outbound-error.js'
import { makeWorkspace } from '../../support/workspace.js'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

const terminal = (env: Record<string, string> = {}): Terminal => ({
  out: () => undefined,
  outBytes: () => Promise.resolve(true),
  err: () => undefined,
  readStdin: () => Promise.resolve(Buffer.alloc(0)),
  env,
  ownsProcess: false,
  isInteractive: false,
  showsProgress: false,
  hasColours: false,
})

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const options = (url?: string) => ({ format: 'text' as const, ...(url !== undefined && { url }) })

describe('a command that asks a running service', () => {
  test('sends the token of the environment, the query without what is absent, and the body as JSON', async () => {
    const url = await serve((request, response) => {
      const { authorization, 'content-type': type } = request.headers
      response.end(JSON.stringify([request.method, request.url, authorization, type]))
    })
    const client = await makeServiceClient(
      options(),
      terminal({ TIDEGATE_URL: `${url}/`, TIDEGATE_TOKEN: 'abc\n' }),
    )
    const request = { method: 'POST', path: '/gates', query: { a: 'x y', b: undefined }, body: {} } as const
    expect(await client.request(z.array(z.string()), request)).toEqual([
      'POST',
      '/gates?a=x+y',
      'Bearer abc',
      'application/json',
    ])
  })

  test.each([
    'ftp://127.0.0.1',
    'nowhere?token=hunter2',
    'http://bot:hunter2@127.0.0.1:8181',
    'http://127.0.0.1:8181/?token=hunter2',
  ])('refuses the URL %s without repeating it, and says where a token is given', async (url) => {
    const asked = makeServiceClient(options(url), terminal())
    await expect(asked).rejects.toThrow(
      /^--url \(or TIDEGATE_URL\) must be an http or https URL without user name.*--token-file/,
    )
    await expect(asked).rejects.not.toThrow(/hunter2/)
  })

  test('sends a name in any letters as the bytes of its UTF-8, and none that names nobody', async () => {
    const url = await serve((request, response) => {
      const claimed = String(request.headers['x-spinnaker-user'])
      response.end(JSON.stringify(Buffer.from(claimed, 'latin1').toString('utf8')))
    })
    const client = await makeServiceClient(options(url), terminal())
    const ask = (claimedUser: string) => client.request(z.string(), { path: '/', claimedUser })
    expect(await ask('\u0141ukasz Zo\u00eb')).toBe('\u0141ukasz Zo\u00eb')
    for (const name of ['', ' ', 'a\nb']) await expect(ask(name)).rejects.toThrow(/^--as must be a name/)
  })

  test.each(['t\u0142ken', 'a b'])('refuses the token %j, which no header can carry', async (token) => {
    const refused = makeServiceClient(options('http://127.0.0.1:1'), terminal({ TIDEGATE_TOKEN: token }))
    await expect(refused).rejects.toMatchObject({
      message: 'TIDEGATE_TOKEN contains no token: it must be one word of printable ASCII characters',
    })
  })

  test('names the socket that nobody answers at', async () => {
    const client = await makeServiceClient(options('unix:/nowhere/at.sock'), terminal())
    await expect(client.request(z.string(), { path: '/' })).rejects.toThrow(
      /No service responds at unix:\/nowhere\/at\.sock \(ENOENT\)/,
    )
  })

  test('takes the token from a file before that of the environment', async () => {
    const workspace = makeWorkspace({ token: 'of-file\n' })
    closers.push(workspace.remove)
    const url = await serve((request, response) =>
      response.end(JSON.stringify(request.headers.authorization)),
    )
    const client = await makeServiceClient(
      { ...options(url), tokenFile: `${workspace.path}/token` },
      terminal({ TIDEGATE_TOKEN: 'of-environment' }),
    )
    expect(await client.request(z.string(), { path: '/' })).toBe('Bearer of-file')
  })

  test.each([
    [404, 'not_found'],
    [409, 'conflict'],
    [403, 'forbidden'],
    [503, 'unavailable'],
  ])('raises what the service answered with %i', async (status, kind) => {
    const body = { code: 'a_code', message: 'a sentence', errors: [{ code: 'c', message: 'detail' }] }
    const url = await serve((_, response) => response.writeHead(status).end(JSON.stringify(body)))
    const client = await makeServiceClient(options(url), terminal())
    await expect(client.request(z.unknown(), { path: '/' })).rejects.toMatchObject({
      kind,
      code: 'a_code',
      message: 'a sentence',
      details: [{ code: 'c', message: 'detail' }],
    })
  })

  test('says that nothing answers, and what to do', async () => {
    const client = await makeServiceClient(options('http://127.0.0.1:1'), terminal())
    await expect(client.request(z.unknown(), { path: '/' })).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(
        /^No service responds at http:\/\/127\.0\.0\.1:1 \(.+\)\. Start it with tidegate serve/,
      ) as string,
    })
  })

  test('says that https was written where TLS is not spoken, and how a token is given', async () => {
    const body = { code: 'unauthenticated', message: 'missing bearer token' }
    const url = await serve((_, response) => response.writeHead(401).end(JSON.stringify(body)))
    const secure = await makeServiceClient(options(url.replace('http', 'https')), terminal())
    await expect(secure.request(z.unknown(), { path: '/' })).rejects.toThrow(
      /cannot call the service at \S+: the port does not use TLS: write http:\/\/ or use another port$/,
    )
    const plain = await makeServiceClient(options(url), terminal())
    await expect(plain.request(z.unknown(), { path: '/' })).rejects.toThrow(
      'missing bearer token (--token-file FILE, or TIDEGATE_TOKEN)',
    )
  })

  test.each(['<html>', '{"other":1}'])('says that %s is no answer of this service', async (text) => {
    const url = await serve((_, response) => response.end(text))
    const client = await makeServiceClient(options(url), terminal())
    await expect(client.request(z.object({ id: z.number() }), { path: '/' })).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('is not this release of tidegate') as string,
    })
  })

  test.each(['ftp://x', 'nonsense'])('refuses %s as the URL of a service', async (url) => {
    await expect(makeServiceClient(options(url), terminal())).rejects.toMatchObject({ kind: 'invalid' })
  })

  test('hands a long answer on as it arrives', async () => {
    const url = await serve((_, response) => response.end('one\ntwo\n'))
    const client = await makeServiceClient(options(url), terminal())
    const chunks: Uint8Array[] = []
    for await (const chunk of await client.stream({ path: '/' })) chunks.push(chunk)
    expect(Buffer.concat(chunks).toString()).toBe('one\ntwo\n')
  })
})

test('without an address of the storage service, an error names the setting', async () => {
  const refused = 'http://127.0.0.1:8080 could not be reached: connect ECONNREFUSED'
  const fail = (): Promise<never> => Promise.reject(new OutboundError('not_connected', refused))
  const advice = 'name the storage service with --storage-url or orchestrator.storageUrl'
  await expect(withStorage({}, terminal(), fail)).rejects.toThrow(`${refused}; ${advice}`)
  await expect(withStorage({ storageUrl: 'http://127.0.0.1:8080' }, terminal(), fail)).rejects.toThrow(
    new RegExp(`${refused}$`),
  )
})
