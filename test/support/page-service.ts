import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { afterAll, beforeAll } from 'vitest'

import { ask, objectOf, postJson } from './http-client.js'
import type { Answered } from './http-client.js'
import { startTidegate } from './tidegate-process.js'
import type { TidegateProcess } from './tidegate-process.js'
import { waitUntil } from './wait-until.js'
import { makeWorkspace } from './workspace.js'

/** Text of an attacker that tries to take over a page, used wherever text is stored. */
export const MARKUP = `"><script>document.title='taken over'</script><img src=x onerror="document.title='taken over'">'`

const APPROVAL = `package release.approval

import rego.v1

# ${MARKUP}
deny contains sprintf("%s is %s", [ticket.jiraId, ticket.status]) if {
  some ticket in input.JIRA.output
  ticket.status != "Done"
}
`
/** A configured token that the bearer of a name has. */
export const token = (name: string, roles: readonly string[]) => ({
  ...{ name, roles },
  sha256: createHash('sha256').update(`token-of-${name}`).digest('hex'),
})

/** The headers of the bearer of a token. */
export function as(name: string): Record<string, string> {
  return { authorization: `Bearer token-of-${name}` }
}

interface PageServiceOptions {
  readonly server?: object
  readonly hasTokens?: boolean
}

/** The built program with a gate whose texts are nearly all markup, open to the orchestrator. */
export function usePageService({ server = {}, hasTokens = true }: PageServiceOptions = {}) {
  const workspace = makeWorkspace({ 'policies/approval.rego': APPROVAL })
  const tracker = createServer((request, response) => {
    const key = /issue\/([^?]+)/.exec(request.url ?? '')?.[1] ?? ''
    const fields = { summary: MARKUP, status: { name: `In Progress ${MARKUP}` }, priority: { name: 'High' } }
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ key, fields }))
  })
  let tidegate: TidegateProcess
  beforeAll(async () => {
    await new Promise<void>((resolve) => tracker.listen(0, '127.0.0.1', resolve))
    const trackerUrl = `http://127.0.0.1:${(tracker.address() as AddressInfo).port}`
    const tokens = [
      ...[token('ana', ['approver']), token('bo', ['approver']), token('eve', ['auditor'])],
      ...[token('orca', ['orchestrator']), token('root', ['admin'])],
    ]
    tidegate = await startTidegate({
      workspace,
      config: {
        server: { ...server },
        auth: hasTokens ? { openToOrchestrator: true, tokens } : {},
        callbacks: { allowLoopback: true },
        connectors: { accounts: [{ name: 'tickets', type: 'jira', url: trackerUrl }] },
        gates: { definitions: [{ id: 7, name: 'Release', application: 'shop', approvals: 2 }] },
      },
    })
  })
  afterAll(async () => {
    await tidegate.end('SIGTERM')
    tracker.close()
    workspace.remove()
  })
  const url = (): string => tidegate.url
  return { url, log: () => tidegate.logText(), ...makeRequests(url) }
}

/** The headers of a browser. */
export function makeRequests(url: () => string) {
  /**
   * Triggers the gate with evidence, and has a policy decide about the same execution; gives the
   * instance.
   */
  const trigger = async (executionId: string): Promise<number> => {
    const body = {
      ...{ approvalCallbackURL: 'http://127.0.0.1:1/y', rejectionCallbackURL: 'http://127.0.0.1:1/n' },
      ...{ executionId, customConnectorData: [{ note: MARKUP }] },
      toolConnectorParameters: [{ connectorType: 'JIRA', parameters: [{ jira_ticket_no: ['OPS-1'] }] }],
    }
    const headers = { 'x-spinnaker-user': `cy ${MARKUP}` }
    const path = '/visibilityservice/v5/approvalGates/7/trigger'
    const id = Number(objectOf(await postJson(url(), path, body, headers))['id'])
    const flat = { startTime: 1, application: 'shop', name: 'p', stage: 's', executionId, user: 'cy' }
    const input = { ...flat, payloadConstraint: [], JIRA: { output: [{ jiraId: 'OPS-1', status: MARKUP }] } }
    await postJson(url(), '/v1/data/release/approval', input)
    await waitUntil(
      async () => {
        const path = `/approvalGateInstances/${id}`
        return objectOf(await ask(url(), { path }))['isEvidencePending'] === false ? true : undefined
      },
      () => 'the evidence is not fetched',
    )
    return id
  }
  const page = (path: string, headers: Record<string, string> = {}): Promise<Answered> =>
    ask(url(), { path, headers: { accept: 'text/html', ...headers } })
  const post = (
    path: string,
    fields: Readonly<Record<string, string>>,
    headers: Record<string, string> = {},
  ): Promise<Answered> =>
    ask(url(), {
      ...{ method: 'POST', path, body: new URLSearchParams(fields).toString() },
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    })
  /** Signs in as a browser does; gives its cookie. */
  const signIn = async (name: string, headers: Record<string, string> = {}): Promise<string> => {
    const form = await page('/ui/sign-in', headers)
    const fields = { formToken: formTokenIn(form), token: `token-of-${name}`, next: '/ui' }
    const answer = await post('/ui/sign-in', fields, { ...headers, cookie: cookieIn(form) })
    if (answer.status !== 303) throw new Error(`not signed in: ${answer.status}`)
    return cookieIn(answer)
  }
  return { trigger, page, post, signIn }
}

/** The token in the forms of a page. */
export function formTokenIn({ text }: Pick<Answered, 'text'>): string {
  return /name="formToken" value="([^"]+)"/.exec(text)?.[1] ?? ''
}

/** The headers that the browser sends from then on. */
export function cookieIn({ headers }: Answered): string {
  return (headers['set-cookie'] ?? []).map((cookie) => cookie.split(';')[0]).join('; ')
}
