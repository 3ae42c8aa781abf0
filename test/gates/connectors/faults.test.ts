import type { ServerResponse } from 'node:http'

import { afterEach, describe, expect, test } from 'vitest'

import { makeToolConnector } from '../../../src/gates/connectors/make-tool-connector.js'
import type { ToolName } from '../../../src/gates/connectors/make-tool-connector.js'
import type {
  ConnectorAccount,
  ConnectorParameters,
  Evidence,
} from '../../../src/gates/connectors/tool/connectors.js'
import { accountAt, instantContext } from '../../support/connector-account.js'
import { respondJson, startLoopbackServer } from '../../support/loopback-server.js'
import type { LoopbackServer } from '../../support/loopback-server.js'
import { jiraDocuments } from './recorded-documents.js'

const ISSUE = jiraDocuments['/rest/api/2/issue/OPS-12']
const TICKET = { jira_ticket_no: ['OPS-12'] }

let server: LoopbackServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

async function askJira(
  respond: (response: ServerResponse, nth: number) => void,
  account: Partial<ConnectorAccount> = {},
  context = instantContext(),
): Promise<Evidence> {
  server = await startLoopbackServer((_, response, nth) => respond(response, nth))
  const connector = makeToolConnector('jira', accountAt(server.origin, account))
  return connector.fetch({ connectorType: 'JIRA', parameters: TICKET }, context)
}

function ask(tool: ToolName, parameters: ConnectorParameters, url = 'http://127.0.0.1:9'): Promise<Evidence> {
  const connector = makeToolConnector(tool, accountAt(url))
  return connector.fetch({ connectorType: 'X', parameters }, instantContext())
}

describe('a tool', () => {
  test.each([
    {
      status: 401,
      error: 'OPS-12: the tool rejects the account ours (401): check its credentials and rights',
    },
    {
      status: 403,
      error: 'OPS-12: the tool rejects the account ours (403): check its credentials and rights',
    },
    { status: 404, error: 'OPS-12: there is none, or the account may not see it (404)' },
    { status: 302, error: 'OPS-12: the tool redirects to another address (302), which is not followed' },
    { status: 400, error: 'OPS-12: the tool answered with status 400' },
    { status: 204, error: 'OPS-12: the tool answered with status 204' },
  ])('that answers with $status gives failed evidence at once', async ({ status, error }) => {
    const evidence = await askJira((response) => response.writeHead(status, { location: '/login' }).end())
    expect(evidence).toMatchObject({ connectorType: 'JIRA', account: 'ours', state: 'failed', output: [] })
    expect(evidence.error).toContain(error)
    expect(evidence.error).not.toContain('hunter2')
    expect(server?.seen).toHaveLength(1)
  })

  test('that is busy is queried again when it says so', async () => {
    const context = instantContext()
    const evidence = await askJira(
      (response, nth) => {
        if (nth === 1) response.writeHead(429, { 'retry-after': '2' }).end()
        else respondJson(response, 200, ISSUE)
      },
      {},
      context,
    )
    expect(evidence.state).toBe('fetched')
    expect(context.waits).toEqual([2000])
  })

  test('that asks for more patience than there is gives failed evidence', async () => {
    const context = instantContext(1000)
    const evidence = await askJira(
      (response) => response.writeHead(503, { 'retry-after': '60' }).end(),
      {},
      context,
    )
    expect(evidence.error).toBe('OPS-12: the tool is busy or failing (503), after up to 3 attempts')
    expect(context.waits).toEqual([])
  })

  test('that keeps failing is asked as often as its account says', async () => {
    const evidence = await askJira((response) => response.writeHead(500).end('oops'), { attempts: 4 })
    expect(evidence.error).toContain('failing (500)')
    expect(server?.seen).toHaveLength(4)
  })

  test('that answers a page for people gives failed evidence', async () => {
    const evidence = await askJira((response) =>
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>Sign in</html>'),
    )
    expect(evidence.error).toBe(
      'OPS-12: the tool answered with text/html that is not JSON: check the URL of the account',
    )
  })

  test.each([{ key: 'OPS-12' }, { key: 'OPS-12', fields: { status: null } }, [], null, 'text', 7])(
    'that answers something else, %j, gives failed evidence',
    async (document) => {
      const evidence = await askJira((response) => respondJson(response, 200, document))
      expect(evidence.state).toBe('failed')
      expect(evidence.error).toMatch(/^OPS-12: the answer of the tool is not valid: /)
    },
  )

  test('that is slow is given up', async () => {
    const evidence = await askJira((response) => response.write('{'), { timeoutMs: 40, attempts: 1 })
    expect(evidence.error).toMatch(/^OPS-12: http:.* did not answer in full within 40 ms$/)
  })

  test('that answers too much is given up', async () => {
    const evidence = await askJira((response) => response.end('x'.repeat(5000)), { maxResponseBytes: 4999 })
    expect(evidence.error).toMatch(/answered with more than 4999 bytes$/)
  })

  test('that is not there gives failed evidence', async () => {
    const evidence = await ask('jira', TICKET)
    expect(evidence.error).toMatch(/^OPS-12: http:\/\/127\.0\.0\.1:9 could not be reached/)
  })

  test('at a metadata address is never asked', async () => {
    const evidence = await ask('jira', TICKET, 'http://169.254.169.254')
    expect(evidence.error).toContain('never allowed')
  })

  test('that knows some of the issues gives those, and says which are missing', async () => {
    server = await startLoopbackServer(({ url }, response) => {
      respondJson(response, url.includes('OPS-12?') ? 200 : 404, ISSUE)
    })
    const connector = makeToolConnector('jira', accountAt(server.origin))
    const parameters = { jira_ticket_no: ['OPS-11', 'OPS-12'] }
    const evidence = await connector.fetch({ connectorType: 'JIRA', parameters }, instantContext())
    expect(evidence).toMatchObject({ state: 'failed', output: [{ jiraId: 'OPS-12' }] })
    expect(evidence.error).toMatch(/^OPS-11: there is none/)
  })

  test('is sent the credentials of its account and no redirect takes them elsewhere', async () => {
    await askJira((response) => respondJson(response, 200, ISSUE))
    expect(server?.seen[0]?.headers).toMatchObject({
      authorization: 'Bearer hunter2',
      accept: 'application/json',
      'user-agent': 'tidegate',
    })
  })

  test('is not asked when no time is left', async () => {
    const evidence = await askJira((response) => respondJson(response, 200, ISSUE), {}, instantContext(0))
    expect(evidence.error).toBe('OPS-12: the time ran out before the request')
    expect(server?.seen).toHaveLength(0)
  })

  test('whose service answers more than is worth keeping gives the first part, as failed', async () => {
    const items = Array.from({ length: 10 }, (_, index) => ({ index, text: 'x'.repeat(50_000) }))
    server = await startLoopbackServer((_, response) => respondJson(response, 200, items))
    const evidence = await ask('http', {}, `${server.origin}/all`)
    expect(evidence).toMatchObject({ state: 'failed', truncated: true })
    expect(evidence.output).toHaveLength(5)
    expect(evidence.error).toBe('the response is too long to store: it has 5 of 10 entries')
  })

  test.each([
    [0, 'fetched', 2],
    [1, 'failed', 1],
  ])(
    'whose service answers %d characters more than are kept gives %s evidence',
    async (more, state, kept) => {
      const half = 128 * 1024
      const items = [half, half + more].map((length) => ({ text: 'x'.repeat(length - '{"text":""}'.length) }))
      server = await startLoopbackServer((_, response) => respondJson(response, 200, items))
      const evidence = await ask('http', {}, `${server.origin}/all`)
      expect([evidence.state, evidence.output.length]).toEqual([state, kept])
    },
  )

  test('whose answer is nested too deeply to keep gives failed evidence', async () => {
    const depth = 100_000
    server = await startLoopbackServer((_, response) => {
      response.end(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`)
    })
    expect(await ask('http', {}, `${server.origin}/all`)).toMatchObject({ state: 'failed', output: [] })
  })

  test('gets at most fifty requests', async () => {
    server = await startLoopbackServer((_, response) => respondJson(response, 200, ISSUE))
    const connector = makeToolConnector('jira', accountAt(server.origin))
    const parameters = { jira_ticket_no: Array.from({ length: 51 }, (_, index) => `OPS-${index}`) }
    const evidence = await connector.fetch({ connectorType: 'JIRA', parameters }, instantContext())
    expect(evidence).toMatchObject({ state: 'failed', truncated: true })
    expect(evidence.output).toHaveLength(50)
    expect(server.seen).toHaveLength(50)
  })
})

describe('parameters', () => {
  test.each<{ tool: ToolName; parameters: ConnectorParameters; error: string | RegExp; url?: string }>([
    {
      tool: 'jira',
      parameters: {},
      error: 'parameter jira_ticket_no is missing: must be an issue key such as OPS-12',
    },
    { tool: 'jira', parameters: { jira_ticket_no: ['../../admin'] }, error: 'not "../../admin"' },
    { tool: 'jira', parameters: { jira_ticket_no: ['OPS-1?expand=x'] }, error: 'must be an issue key' },
    { tool: 'servicenow', parameters: { number: ['CHG1^ORnumber=CHG2'] }, error: 'must be a change number' },
    { tool: 'sonarqube', parameters: { projectKey: ['a b'] }, error: 'must be the key of a project' },
    {
      tool: 'jenkins',
      parameters: { job: ['a', 'b'] },
      error:
        'parameter job has more than one value; parameter buildId is missing: must be the number of a build',
    },
    {
      tool: 'jenkins',
      parameters: { job: ['a/../../manage'], buildId: ['1'] },
      error: 'a name may not be ".."',
    },
    {
      tool: 'jenkins',
      parameters: { job: ['a'], buildId: ['1/../..'] },
      error: 'must be the number of a build',
    },
    { tool: 'jenkins', parameters: { job: ['a%2f..'], buildId: ['1'] }, error: 'must be the name of a job' },
    {
      tool: 'github',
      parameters: { repo: ['tide/shop'] },
      error: 'one of the parameters commitId, pullRequest must be there',
    },
    {
      tool: 'github',
      parameters: { repo: ['tide/..'], commitId: ['abcdef0'] },
      error: 'must be a repository',
    },
    {
      tool: 'github',
      parameters: { repo: ['shop'], commitId: ['main'] },
      error: /repo must be .*; .*commitId must be/,
    },
    {
      tool: 'gitlab',
      parameters: { repo: ['a/b'], mergeRequest: ['!5'] },
      error: 'must be a number such as 17',
    },
    {
      tool: 'bitbucket',
      parameters: { commitId: ['abcdef0'] },
      error: 'parameter repositoryName is missing',
    },
    {
      tool: 'http',
      url: 'http://127.0.0.1:9/{a}/{b}',
      parameters: { a: ['..'], b: ['.'] },
      error: /a must be a text .*; parameter b must be a text/,
    },
    {
      tool: 'http',
      url: 'http://127.0.0.1:9/{a}/{b}',
      parameters: { a: ['1', '2'], b: ['1', '2', '3'] },
      error: 'the parameters a, b must have one value each, or equally many',
    },
    {
      tool: 'http',
      url: 'http://127.0.0.1:9/{toString}',
      parameters: {},
      error: 'parameter toString is missing',
    },
  ])('of $tool are refused before anything is asked: $error', async ({ tool, parameters, error, url }) => {
    const evidence = await ask(tool, parameters, url)
    expect(evidence).toMatchObject({ state: 'failed', output: [] })
    if (typeof error === 'string') expect(evidence.error).toContain(error)
    else expect(evidence.error).toMatch(error)
    expect(evidence.error).not.toContain('could not be reached')
  })
})
