import { describe, expect, test } from 'vitest'

import { describeRefusal } from '../../../../src/analysis/sources/answers/describe-refusal.js'

const MAX_MS = 5000

describe('what a server said when it refused', () => {
  test.each([
    { name: 'nothing', status: 500, body: '', said: 'answered 500' },
    { name: 'text', status: 400, body: 'parse error\n  at 1:5\n', said: 'answered 400: parse error at 1:5' },
    {
      name: 'an error of Elasticsearch, by its cause',
      status: 400,
      body: JSON.stringify({
        error: {
          root_cause: [{ type: 'x', reason: 'Failed to parse query [a:]' }],
          type: 'search_phase_execution_exception',
          reason: 'all shards failed',
        },
        status: 400,
      }),
      said: 'answered 400: search_phase_execution_exception: Failed to parse query [a:]',
    },
    {
      name: 'an error of Amazon, with what to do',
      status: 400,
      body: JSON.stringify({ __type: 'com.amazon.coral.service#ExpiredTokenException', Message: 'expired' }),
      said: 'answered 400: ExpiredTokenException: expired (the session has ended: give a new sessionToken)',
    },
    {
      name: 'an error of Amazon that nothing is known of',
      status: 500,
      body: '{"__type":"InternalFailure"}',
      said: 'answered 500: InternalFailure',
    },
    {
      name: 'an error of Google',
      status: 404,
      body: JSON.stringify({ error: { code: 404, message: 'no metric', status: 'NOT_FOUND' } }),
      said: 'answered 404: NOT_FOUND: no metric',
    },
    {
      name: 'errors of Datadog',
      status: 400,
      body: '{"errors":["one","two"]}',
      said: 'answered 400: one; two',
    },
    {
      name: 'messages of Splunk',
      status: 400,
      body: '{"messages":[{"type":"FATAL","text":"no such index"}]}',
      said: 'answered 400: no such index',
    },
    {
      name: 'a message in JSON',
      status: 403,
      body: '{"message":"no"}',
      said: 'answered 403 (see its credentials): no',
    },
    {
      name: 'an error of Amazon in XML',
      status: 403,
      body: '<?xml version="1.0"?>\n<!-- a > b -->\n<ErrorResponse xmlns="x"><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>No &quot;role&quot; &amp;\n more</Message></Error></ErrorResponse>',
      said: 'answered 403 (see its credentials): an XML document (AccessDenied: No "role" & more)',
    },
    {
      name: 'messages of Splunk in XML',
      status: 401,
      body: '<response>\n<messages>\n<msg type="WARN">call not properly authenticated</msg></messages></response>',
      said: 'answered 401 (see its credentials): an XML document (call not properly authenticated)',
    },
    {
      name: 'other XML',
      status: 404,
      body: '<?xml version="1.0"?><rss version="2"/>',
      said: 'answered 404 (its API is not there: see its url): an XML document (<rss>)',
    },
    {
      name: 'a page, by its title',
      status: 200,
      body: '<!DOCTYPE html><html><head><title>Sign in</title>',
      said: 'answered 200: an HTML page ("Sign in"), as a proxy or a login form gives',
    },
    {
      name: 'an older error of Amazon, with what to do',
      status: 400,
      body: '{"Error":{"Code":"InvalidIdentityToken","Message":"no provider"},"RequestId":"1"}',
      said: 'answered 400: InvalidIdentityToken: no provider (see the token and the identity provider of the account)',
    },
    { name: 'other JSON', status: 500, body: '{"a":1}', said: 'answered 500: {"a":1}' },
    {
      name: 'a URL with credentials that the server repeats',
      status: 404,
      body: 'Cannot GET https://bot:hunter2@h.example/api?query=up&access_token=hunter2',
      said: 'answered 404 (its API is not there: see its url): Cannot GET https://[redacted]@h.example/api?query=up&access_token=[redacted]',
    },
    {
      name: 'signs that act on a terminal',
      status: 500,
      body: 'a\u001b[2Jb\u202ec',
      said: 'answered 500: a [2Jb c',
    },
  ])('is told in one line: $name', ({ status, body, said }) => {
    expect(describeRefusal(status, Buffer.from(body))).toBe(said)
  })

  test.each(['<!', '<title', '<Code', '<msg '])(
    'is told soon where nothing that begins ends: %s',
    (tag) => {
      // Searched to its end from each beginning, one of these takes more than half a second.
      for (const start of ['<html>', '<a>']) {
        const body = Buffer.from(start + tag.repeat(64 * 1024))
        const said = new Set(Array.from({ length: 20 }, () => describeRefusal(500, body)))
        expect([...said].join()).toMatch(
          start === '<html>' ? /^answered 500: an HTML page/ : /: an XML document/,
        )
      }
    },
    MAX_MS,
  )

  test('is cut where it is long', () => {
    expect(describeRefusal(500, Buffer.from('x'.repeat(100_000)))).toHaveLength(
      'answered 500: …'.length + 300,
    )
  })
})
