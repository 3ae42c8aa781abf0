import { z } from 'zod'

import { byteSize, byteSizeText } from '../values/byte-size.js'
import { key, wholeNumber, wholeNumberText } from '../values/key.js'

const KIB = 1024
const MIB = 1024 * KIB
const MAX_BODY_BYTES = 64 * MIB
const MAX_CACHE_BYTES = 1024 * MIB
const MAX_SECONDS = 60
const MAX_REQUESTS = 1000
const MAX_WAITING = 10_000

/** What policies may ask of others while they decide. */
export const PolicyRequestsSection = z.strictObject({
  allowedHosts: key(
    z.array(z.string().regex(/^(?:\*\.)?[\w.:-]*\w$/)).default([]),
    'The hosts that policies may ask by `http.send` and `net.lookup_ip_addr`, as they stand in the URLs: names, `*.example.org` for all names below one, addresses. Where the list is empty, policies that call these are not loaded. This machine itself is asked only where the list names it (`localhost`, `127.0.0.1`, `::1`).',
    'a list of hosts such as inventory.example.org, *.example.org or 10.1.2.3',
  ),
  allowPrivate: key(
    z.boolean().default(false),
    'Whether these hosts may be in private networks (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7 and their like). Link-local and metadata addresses are never asked.',
    'true or false',
  ),
  timeoutSeconds: key(
    wholeNumber(1, MAX_SECONDS).default(5),
    'The longest that one answer may take; a policy may give it less by `timeout`.',
    wholeNumberText(1, MAX_SECONDS),
  ),
  maxPerDecision: key(
    wholeNumber(1, MAX_REQUESTS).default(16),
    'How many requests one decision may make, redirects and repetitions among them; above it the answer is 500 `evaluation_request_refused`.',
    wholeNumberText(1, MAX_REQUESTS),
  ),
  maxTotalSeconds: key(
    wholeNumber(1, MAX_SECONDS).default(10),
    'How long all requests of one decision may take together; above it the answer is 500 `evaluation_request_refused`.',
    wholeNumberText(1, MAX_SECONDS),
  ),
  maxResponseBytes: key(
    byteSize(KIB, MAX_BODY_BYTES).default(MIB),
    'The largest answer that is taken; a decision that gets a larger one is 500 `evaluation_request_refused`.',
    byteSizeText(KIB, MAX_BODY_BYTES),
  ),
  maxWaiting: key(
    wholeNumber(1, MAX_WAITING).default(200),
    'How many decisions may wait for answers at a time, in each process; beyond that the answer is 503 with `Retry-After`.',
    wholeNumberText(1, MAX_WAITING),
  ),
  cacheBytes: key(
    byteSize(0, MAX_CACHE_BYTES).default(16 * MIB),
    'What answers may take that are kept for other decisions (`cache`, `force_cache`), in each process.',
    byteSizeText(0, MAX_CACHE_BYTES),
  ),
})
