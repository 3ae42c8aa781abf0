import { z } from 'zod'

import { booleanKey, key, wholeNumberKey } from '../values/key.js'
import { secretKey } from '../values/secret.js'

const MAX_SECONDS = 86_400
const MAX_HOURS = 24 * 30

export const CallbacksSection = z.strictObject({
  secret: secretKey(
    'The secret that signs callbacks (Standard Webhooks): base64, with or without the prefix `whsec_`. Without it a secret is created and stored as `callback-secret` in the data directory.',
  ).optional(),
  allowLoopback: booleanKey(false, 'Whether callbacks may go to this machine (127.0.0.0/8, ::1).'),
  allowPrivate: booleanKey(
    false,
    'Whether callbacks may go to private networks (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7 and their like). Link-local and metadata addresses are always refused.',
  ),
  allowedHosts: key(
    z.array(z.string().regex(/^(?:\*\.)?[\w.:-]*\w$/)).default([]),
    'Hosts that callbacks may go to, as written in URLs: names, `*.example.org` for all names below one, addresses. Any host if the list is empty. Private and loopback hosts must also be allowed above.',
    'a list of hosts such as gate.example.org, *.example.org or 10.1.2.3',
  ),
  timeoutSeconds: wholeNumberKey(
    { min: 1, max: 300, default: 10 },
    'How long a receiver may take to answer, in seconds.',
  ),
  firstRetrySeconds: wholeNumberKey(
    { min: 1, max: MAX_SECONDS, default: 5 },
    'The longest wait before the second attempt, in seconds. It doubles with each attempt, with jitter.',
  ),
  maxRetrySeconds: wholeNumberKey(
    { min: 1, max: MAX_SECONDS, default: 900 },
    'The longest wait between two attempts, in seconds, unless the receiver requests more with Retry-After.',
  ),
  giveUpAfterHours: wholeNumberKey(
    { min: 1, max: MAX_HOURS, default: 24 },
    'How long a callback is retried, in hours. After that it is shown as given up and can be sent again manually.',
  ),
  perReceiver: wholeNumberKey(
    { min: 1, max: 64, default: 8 },
    'Number of parallel callbacks to one receiver.',
  ),
  keepDays: wholeNumberKey(
    { min: 1, max: 3650, default: 30 },
    'How long delivered and given up callbacks are kept, in days.',
  ),
})
