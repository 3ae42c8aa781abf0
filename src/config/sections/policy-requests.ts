import { z } from 'zod'

import { byteSizeKey } from '../values/byte-size.js'
import { booleanKey, key, wholeNumberKey } from '../values/key.js'

const KIB = 1024
const MIB = 1024 * KIB
const MAX_BODY_BYTES = 64 * MIB
const MAX_CACHE_BYTES = 1024 * MIB
const MAX_SECONDS = 60
const MAX_REQUESTS = 1000
const MAX_WAITING = 10_000

/** Limits of requests that policies send during a decision. */
export const PolicyRequestsSection = z.strictObject({
  allowedHosts: key(
    z.array(z.string().regex(/^(?:\*\.)?[\w.:-]*\w$/)).default([]),
    'Hosts that policies may call with `http.send` and look up with `net.lookup_ip_addr`, as written in URLs: names, `*.example.org` for all names below one, addresses. If the list is empty, policies that use these functions are not loaded. This machine is allowed only if listed (`localhost`, `127.0.0.1`, `::1`).',
    'a list of hosts such as inventory.example.org, *.example.org or 10.1.2.3',
  ),
  allowPrivate: booleanKey(
    false,
    'Whether these hosts may be in private networks (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7 and their like). Link-local and metadata addresses are always refused.',
  ),
  timeoutSeconds: wholeNumberKey(
    { min: 1, max: MAX_SECONDS, default: 5 },
    'Time limit of one request, in seconds. A policy may set a shorter `timeout`.',
  ),
  maxPerDecision: wholeNumberKey(
    { min: 1, max: MAX_REQUESTS, default: 16 },
    'Number of requests of one decision, including redirects and retries. Beyond it the answer is 500 `evaluation_request_refused`.',
  ),
  maxTotalSeconds: wholeNumberKey(
    { min: 1, max: MAX_SECONDS, default: 10 },
    'Time limit of all requests of one decision, in seconds. Beyond it the answer is 500 `evaluation_request_refused`.',
  ),
  maxResponseBytes: byteSizeKey(
    { min: KIB, max: MAX_BODY_BYTES, default: MIB },
    'The largest response. For a larger one the answer is 500 `evaluation_request_refused`.',
  ),
  maxWaiting: wholeNumberKey(
    { min: 1, max: MAX_WAITING, default: 200 },
    'Number of decisions that may wait for responses at a time, in each process. Beyond it the answer is 503 with `Retry-After`.',
  ),
  cacheBytes: byteSizeKey(
    { min: 0, max: MAX_CACHE_BYTES, default: 16 * MIB },
    'Memory for cached responses (`cache`, `force_cache`), in each process.',
  ),
})
