import { z } from 'zod'

import { key, wholeNumber, wholeNumberText } from '../values/key.js'
import { secretKey } from '../values/secret.js'

const MAX_SECONDS = 86_400
const MAX_HOURS = 24 * 30

export const CallbacksSection = z.strictObject({
  secret: secretKey(
    'The secret that signs callbacks (Standard Webhooks): base64, with or without the prefix `whsec_`. Without it a secret is created and stored as `callback-secret` in the data directory.',
  ).optional(),
  allowLoopback: key(
    z.boolean().default(false),
    'Whether callbacks may go to this machine (127.0.0.0/8, ::1).',
    'true or false',
  ),
  allowPrivate: key(
    z.boolean().default(false),
    'Whether callbacks may go to private networks (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7 and their like). Link-local and metadata addresses are always refused.',
    'true or false',
  ),
  allowedHosts: key(
    z.array(z.string().regex(/^(?:\*\.)?[\w.:-]*\w$/)).default([]),
    'Hosts that callbacks may go to, as written in URLs: names, `*.example.org` for all names below one, addresses. Any host if the list is empty. Private and loopback hosts must also be allowed above.',
    'a list of hosts such as gate.example.org, *.example.org or 10.1.2.3',
  ),
  timeoutSeconds: key(
    wholeNumber(1, 300).default(10),
    'How long a receiver may take to answer, in seconds.',
    wholeNumberText(1, 300),
  ),
  firstRetrySeconds: key(
    wholeNumber(1, MAX_SECONDS).default(5),
    'The longest wait before the second attempt, in seconds. It doubles with each attempt, with jitter.',
    wholeNumberText(1, MAX_SECONDS),
  ),
  maxRetrySeconds: key(
    wholeNumber(1, MAX_SECONDS).default(900),
    'The longest wait between two attempts, in seconds, unless the receiver requests more with Retry-After.',
    wholeNumberText(1, MAX_SECONDS),
  ),
  giveUpAfterHours: key(
    wholeNumber(1, MAX_HOURS).default(24),
    'How long a callback is retried, in hours. After that it is shown as given up and can be sent again manually.',
    wholeNumberText(1, MAX_HOURS),
  ),
  perReceiver: key(
    wholeNumber(1, 64).default(8),
    'Number of parallel callbacks to one receiver.',
    wholeNumberText(1, 64),
  ),
  keepDays: key(
    wholeNumber(1, 3650).default(30),
    'How long delivered and given up callbacks are kept, in days.',
    wholeNumberText(1, 3650),
  ),
})
