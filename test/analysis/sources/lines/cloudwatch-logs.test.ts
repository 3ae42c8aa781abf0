import { afterEach, describe, expect, test } from 'vitest'

import { Secret } from '../../../../src/lib/outbound/credentials.js'
import { respondJson } from '../../../support/loopback-server.js'
import type { Respond } from '../../../support/loopback-server.js'
import { START_MS, makeServedSources, window } from '../../../support/open-source.js'

const { open, closeAll } = makeServedSources('cloudwatchlogs')
afterEach(closeAll)

const SETTINGS = {
  ...{ region: 'eu-central-1', accessKeyId: 'AKIDEXAMPLE', index: '/ecs/shop' },
  secretAccessKey: new Secret('wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'),
}

interface Asked {
  readonly limit: number
  readonly nextToken?: string
}

function event(index: number, message = `line ${index}`): object {
  return {
    ...{ eventId: String(index), logStreamName: 'web/1', message },
    ...{ timestamp: START_MS + index * 1000, ingestionTime: START_MS + index * 1000 + 50 },
  }
}

/** Answers as FilterLogEvents does: pages of any size with a token, empty ones included. */
function serving(pages: readonly (readonly object[])[]): Respond {
  return ({ body }, response) => {
    const { nextToken = '0' } = JSON.parse(body) as Asked
    const at = Number(nextToken)
    const isLast = at === pages.length - 1
    respondJson(response, 200, {
      ...{ events: pages[at], searchedLogStreams: [] },
      ...(!isLast && { nextToken: String(at + 1) }),
    })
  }
}

const refusing =
  (status: number, type: string, message: string): Respond =>
  (_, response) =>
    respondJson(response, status, { __type: `com.amazonaws.logs#${type}`, message })

const textsOf = (answer: { lines: readonly { text: string }[] }): string[] =>
  answer.lines.map(({ text }) => text)

describe('events of CloudWatch Logs', () => {
  test('are requested with a signature, the log group and the window, whose end is left out', async () => {
    const { source, server } = await open(serving([[event(0)]]), SETTINGS)
    const answer = await source.fetchLines({ query: '?ERROR ?"${app}"', scope: { app: 'my "shop"' } })
    expect(answer).toMatchObject({ state: 'complete', coveredUntilMs: window(10).endMs })
    const [{ body, headers } = { body: '', headers: {} }] = server.seen
    expect(headers).toMatchObject({
      'x-amz-target': 'Logs_20140328.FilterLogEvents',
      'content-type': 'application/x-amz-json-1.1',
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20261121\/eu-central-1\/logs\/aws4_request,/,
      ) as string,
    })
    expect(JSON.parse(body)).toEqual({
      ...{ logGroupName: '/ecs/shop', filterPattern: '?ERROR ?"my \\"shop\\""', limit: 3 },
      ...{ startTime: START_MS, endTime: window(10).endMs - 1 },
    })
    expect(answer.query).toBe(
      JSON.stringify({ logGroupName: '/ecs/shop', filterPattern: '?ERROR ?"my \\"shop\\""' }),
    )
  })

  test('come page after page, also after empty ones', async () => {
    const { source, server } = await open(serving([[], [event(0), event(1)], [], [event(2)]]), SETTINGS)
    const answer = await source.fetchLines({ query: '*' })
    expect(textsOf(answer)).toEqual(['line 0', 'line 1', 'line 2'])
    expect(answer).toMatchObject({ state: 'complete', reasons: [] })
    expect(server.seen).toHaveLength(4)
    expect(JSON.parse(server.seen[0]!.body)).not.toHaveProperty('filterPattern')
  })

  test('are what their JSON says', async () => {
    const json = JSON.stringify({ level: 'error', msg: 'no connection', note: 'to the store' })
    const { source } = await open(serving([[event(0, json), event(1, 'plain text\n')]]), SETTINGS)
    expect(textsOf(await source.fetchLines({ query: '' }))).toEqual(['ERROR no connection', 'plain text'])
    const named = await source.fetchLines({ query: '', messageField: 'note' })
    expect(textsOf(named)).toEqual(['ERROR to the store', 'plain text'])
  })

  test('end at the limit of lines, and tell until when they are there', async () => {
    const { source } = await open(
      serving([
        [event(0), event(1)],
        [event(2), event(3)],
      ]),
      SETTINGS,
    )
    const answer = await source.fetchLines({ query: '', limits: { maxLines: 3 } })
    expect(textsOf(answer)).toEqual(['line 0', 'line 1', 'line 2'])
    expect(answer).toMatchObject({ state: 'incomplete', isTruncated: true, coveredUntilMs: START_MS + 2000 })
    expect(answer.reasons[0]).toContain('the limit of 3 lines')
  })

  test('are filtered by their stream and by what their JSON says', async () => {
    const { source, server } = await open(serving([[event(0)]]), SETTINGS)
    await source.fetchLines({
      query: '{ $.level = "ERROR" || $.level = "FATAL" }',
      filters: [
        { field: 'logStreamName', value: 'web/', match: 'prefix' },
        { field: 'kubernetes.pod', value: 'shop-', match: 'prefix' },
        { field: 'app', value: 'a"b', match: 'exact' },
      ],
    })
    expect(JSON.parse(server.seen[0]!.body)).toMatchObject({
      logStreamNamePrefix: 'web/',
      filterPattern:
        '{ ($.level = "ERROR" || $.level = "FATAL") && ($.kubernetes.pod = "shop-*") && ($.app = "a\\"b") }',
    })
  })

  test.each([
    [
      { query: 'ERROR', filters: [{ field: 'app', value: 'x', match: 'exact' as const }] },
      'needs a pattern for JSON',
    ],
    [
      { query: '', filters: [{ field: 'app', value: 'x*y', match: 'exact' as const }] },
      'cannot be filtered by app',
    ],
    [{ query: '', index: 'a b' }, 'cannot be the name of a log group'],
    [{ query: '"${app}"', scope: { app: 'x*' } }, '${app} is "x*", but this place only allows'],
    [{ query: '${app}', scope: { app: 'x" || true' } }, 'put the placeholder between quotes'],
  ])('are not asked for where %j cannot be asked', async (query, reason) => {
    const { source, server } = await open(serving([[]]), SETTINGS)
    const answer = await source.fetchLines(query)
    expect(answer.state).toBe('failed')
    expect(answer.reasons[0]).toContain(reason)
    expect(server.seen).toHaveLength(0)
  })

  test.each([
    ['UnrecognizedClientException', 'The security token is invalid.', 'see accessKeyId and sessionToken'],
    [
      'InvalidSignatureException',
      'The signature does not match.',
      'see secretAccessKey, region and the clock',
    ],
    ['ResourceNotFoundException', 'The specified log group does not exist.', 'and the region'],
  ])('say what to do about %s', async (type, message, hint) => {
    const { source } = await open(refusing(400, type, message), SETTINGS)
    const { state, reasons } = await source.fetchLines({ query: '' })
    expect(state).toBe('failed')
    expect(reasons[0]).toContain(`main answered 400: ${type}: ${message} (`)
    expect(reasons[0]).toContain(hint)
  })

  test('are tried again when the service throttles, which it says with 400', async () => {
    const { source } = await open((request, response, nth) => {
      if (nth <= 2) refusing(400, 'ThrottlingException', 'Rate exceeded')(request, response, nth)
      else serving([[event(0)]])(request, response, nth)
    }, SETTINGS)
    expect(textsOf(await source.fetchLines({ query: '' }))).toEqual(['line 0'])
    expect(source.waits).toHaveLength(2)
  })

  test('end where a server gives the same page again and again', async () => {
    const { source, server } = await open(
      (_, response) => respondJson(response, 200, { events: [], nextToken: 'same' }),
      SETTINGS,
    )
    const { state, reasons } = await source.fetchLines({ query: '' })
    expect([state, reasons]).toEqual(['failed', ['the server gave the same page twice']])
    expect(server.seen).toHaveLength(2)
  })

  test.each([null, 7, [], {}, { events: [{}] }, { events: 'x' }])('are none in %j', async (strange) => {
    const { source } = await open((_, response) => respondJson(response, 200, strange), SETTINGS)
    expect((await source.fetchLines({ query: '' })).state).toBe('failed')
  })

  test('are empty where the group has none', async () => {
    const { source } = await open(serving([[]]), SETTINGS)
    expect(await source.fetchLines({ query: '' })).toMatchObject({ state: 'empty', reasons: [], lines: [] })
  })

  test('need a log group', async () => {
    const { source } = await open(serving([[]]), { ...SETTINGS, index: undefined })
    expect((await source.fetchLines({ query: '' })).reasons).toEqual([
      'main: no log group to search: name it as the index of the log template or of the source',
    ])
  })
})
