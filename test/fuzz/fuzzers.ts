import type { Fuzzer } from './fuzzer.ts'
import { authHeader } from './targets/auth-header.ts'
import { jsonScan } from './targets/json-scan.ts'
import { jsonSplice } from './targets/json-splice.ts'
import { oneReading } from './targets/one-reading.ts'
import { paymentCredential } from './targets/payment-credential.ts'
import { pipelineString } from './targets/pipeline-string.ts'
import { receipt } from './targets/receipt.ts'
import { sse } from './targets/sse.ts'
import { tokenEstimate } from './targets/token-estimate.ts'
import { translateReplies } from './targets/translate-replies.ts'
import { translateRequests } from './targets/translate-requests.ts'
import { webhook } from './targets/webhook.ts'
import { yamlConfig } from './targets/yaml-config.ts'

/** All of them. */
export const FUZZERS: readonly Fuzzer[] = [
  sse,
  jsonScan,
  jsonSplice,
  oneReading,
  translateRequests,
  translateReplies,
  tokenEstimate,
  authHeader,
  paymentCredential,
  pipelineString,
  receipt,
  yamlConfig,
  webhook,
]
