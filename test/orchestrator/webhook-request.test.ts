import { describe, expect, it } from 'vitest'

import { Secret } from '../../src/lib/outbound/credentials.js'
import {
  GITHUB,
  GITLAB,
  toWebhookRequest,
  webhookCredentials,
} from '../../src/orchestrator/webhook-request.js'

const gateUrl = 'http://gate.example.org:8084/gate'
const webhookToken = new Secret('s3cret')

describe('a delivery that is passed on', () => {
  it('takes along what describes it, and nothing else', () => {
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'x-gitlab-event': 'Push Hook',
      'x-gitlab-token': 'what the sender had',
      cookie: 'c',
      authorization: 'Bearer ours',
    }
    expect(toWebhookRequest({ gateUrl }, GITLAB, { headers })).toEqual({
      url: 'http://gate.example.org:8084/gate/webhooks/webhook/gitlab',
      headers: { 'content-type': 'application/json; charset=utf-8', 'x-gitlab-event': 'Push Hook' },
    })
  })

  it('is JSON where its sender did not say', () => {
    expect(toWebhookRequest({ gateUrl }, GITLAB, { headers: {} }).headers).toEqual({
      'content-type': 'application/json',
    })
  })

  it('is joined by our token and our credentials when it is sent', () => {
    expect(
      webhookCredentials({ gateCredentials: undefined, webhookToken }, `${gateUrl}${GITLAB.path}`),
    ).toEqual({
      'x-gitlab-token': 's3cret',
    })
    const gateCredentials = { type: 'bearer', token: new Secret('t') } as const
    expect(webhookCredentials({ gateCredentials, webhookToken }, `${gateUrl}${GITHUB.path}`)).toEqual({
      authorization: 'Bearer t',
    })
  })
})
