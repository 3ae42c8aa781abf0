import { join } from 'node:path'

import { afterAll, beforeAll, beforeEach } from 'vitest'

import { Browser } from './browser.js'
import { CertificateAuthority } from './certificates.js'
import { freePort } from './free-port.js'
import { objectOf, postJson } from './http-client.js'
import { MFA, startIdentityProvider } from './identity-provider.js'
import type { IdentityProvider } from './identity-provider.js'
import { token } from './page-service.js'
import { startTidegate } from './tidegate-process.js'
import type { TidegateProcess } from './tidegate-process.js'
import { makeWorkspace } from './workspace.js'

/** The audience of access tokens for the service. */
export const AUDIENCE = 'https://tidegate.example.org'
/** Begins a sign-in that leads to the list of approvals. */
export const START = '/ui/sign-in/start?next=%2Fui%2Fapprovals%3Fstatus%3Dall'

/** The built program with a gate, where people sign in at a real provider. */
export function useSignOnService() {
  const workspace = makeWorkspace({ 'policies/a.rego': 'package a\n\nallow := true\n' })
  let tidegate: TidegateProcess
  let provider: IdentityProvider

  beforeAll(async () => {
    const port = await freePort()
    const publicUrl = `http://127.0.0.1:${port}`
    const authority = new CertificateAuthority(workspace.path)
    const files = authority.make('provider', { subject: '/CN=provider', names: 'IP:127.0.0.1' })
    provider = await startIdentityProvider(files, () => `${publicUrl}/ui/sign-in/callback`)
    const folder = workspace.write({ 'client-secret': 'secret-of-tidegate\n' })
    tidegate = await startTidegate({
      workspace,
      config: {
        server: { addr: `127.0.0.1:${port}`, publicUrl },
        auth: {
          tokens: [token('orca', ['orchestrator']), token('taken@example.org', ['admin'])],
          oidc: {
            ...{ issuer: provider.issuer, tlsCa: authority.certificate },
            clientId: 'tidegate',
            clientSecret: { file: join(folder, 'client-secret') },
            label: 'Example Login',
            roles: { approver: ['release-managers'], auditor: ['*'], orchestrator: ['robots'] },
            audience: AUDIENCE,
            approvalAcr: MFA,
          },
        },
        callbacks: { allowLoopback: true },
        gates: {
          definitions: [
            { id: 7, name: 'Release', application: 'shop', approvers: { groups: ['release-managers'] } },
          ],
        },
      },
    })
  })
  afterAll(async () => {
    await tidegate.end('SIGTERM')
    await provider.close()
    workspace.remove()
  })
  beforeEach(() => {
    provider.user = 'ana@example.org'
    provider.away.isAway = false
    provider.namesAcr = true
    provider.people.clear()
    provider.people.set('ana@example.org', { groups: ['release-managers', 'staff'] })
    provider.people.set('taken@example.org', { groups: ['staff'] })
  })

  async function signedIn(): Promise<Browser> {
    const browser = new Browser(tidegate.url)
    const { status } = await browser.get(START)
    if (status !== 200) throw new Error(`not signed in: ${status}`)
    return browser
  }

  /** Signs in at the provider, up to the address at which it sends the browser back. */
  async function returnAddress(browser: Browser): Promise<string> {
    let target = (await browser.step(START)).headers.location ?? ''
    while (!target.includes('/ui/sign-in/callback'))
      target = new URL((await browser.step(target)).headers.location ?? '', target).href
    return target
  }

  async function triggerGate(executionId: string): Promise<number> {
    const path = '/visibilityservice/v5/approvalGates/7/trigger'
    const callbacks = {
      approvalCallbackURL: 'http://127.0.0.1:1/y',
      rejectionCallbackURL: 'http://127.0.0.1:1/n',
    }
    const headers = { authorization: 'Bearer token-of-orca' }
    const body = { ...callbacks, executionId, toolConnectorParameters: [] }
    return Number(objectOf(await postJson(tidegate.url, path, body, headers))['id'])
  }

  return { tidegate: () => tidegate, provider: () => provider, signedIn, returnAddress, triggerGate }
}

/** A part of a token. */
export function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
