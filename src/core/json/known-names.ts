/** Top-level fields that are read, priced or forwarded by name, in any dialect. */
export const FIELD_NAMES: ReadonlySet<string> = new Set([
  // Messages requests.
  ...['model', 'max_tokens', 'messages', 'system', 'tools', 'tool_choice', 'stream', 'metadata', 'thinking'],
  ...['temperature', 'top_p', 'top_k', 'stop_sequences', 'output_config', 'output_format', 'context_management'],
  ...['service_tier', 'mcp_servers', 'container', 'fallbacks', 'speed', 'inference_geo', 'cache_control'],
  // Chat completions, and servers that are compatible with them.
  ...['max_completion_tokens', 'n', 'stop', 'functions', 'function_call', 'parallel_tool_calls', 'response_format'],
  ...['stream_options', 'user', 'safety_identifier', 'reasoning', 'reasoning_effort', 'modalities', 'audio'],
  ...['prediction', 'web_search_options', 'logprobs', 'top_logprobs', 'logit_bias', 'store', 'models', 'plugins'],
  ...['provider', 'route', 'transforms', 'verbosity', 'seed'],
  // Responses.
  ...[
    'input',
    'instructions',
    'max_output_tokens',
    'max_tool_calls',
    'previous_response_id',
    'conversation',
    'include',
  ],
  ...['text', 'truncation', 'background', 'prompt', 'prompt_cache_key', 'prompt_cache_retention', 'client_metadata'],
  'prompt_cache_options',
])

/** Members inside those fields that are read or priced by name, in any dialect. */
export const MEMBER_NAMES: ReadonlySet<string> = new Set([
  ...['type', 'role', 'content', 'text', 'source', 'id', 'name', 'input', 'tool_use_id', 'is_error', 'description'],
  ...['input_schema', 'data', 'media_type', 'url', 'file_id', 'signature', 'thinking', 'title', 'context', 'citations'],
  ...['cache_control', 'ttl', 'defer_loading', 'max_uses', 'max_content_tokens', 'strict', 'model', 'models'],
  ...['image_url', 'input_audio', 'file', 'file_data', 'filename', 'format', 'detail', 'refusal', 'reasoning_content'],
  ...['tool_calls', 'tool_call_id', 'function', 'function_call', 'arguments', 'custom', 'parameters', 'reasoning'],
  ...['reasoning_details', 'json_schema', 'schema', 'grammar', 'definition', 'budget_tokens', 'max_tokens', 'effort'],
  ...['include_usage', 'disable_parallel_tool_use', 'edits', 'enabled'],
  ...['call_id', 'output', 'namespace', 'tools', 'summary', 'encrypted_content', 'phase', 'file_url', 'verbosity'],
])

/** Fields whose content is the client's own: its names are not those of the API. */
const FREE_FIELDS: ReadonlySet<string> = new Set(['metadata', 'logit_bias', 'client_metadata', 'prompt'])

/**
 * Finds the one of `names` that `name` is in another case; `undefined` when it is none. Case is folded as widely as a lenient
 * JSON decoder may fold it: Go's encoding/json also takes `ſ` for `s` and the Kelvin sign for `k`.
 */
export function otherCaseOf(name: string, names: ReadonlySet<string>): string | undefined {
  const folded = name.toUpperCase().toLowerCase()
  return folded !== name && names.has(folded) ? folded : undefined
}

/** Returns whether the names inside a top-level field are the client's own: unknown fields, and maps of labels. */
export function hasFreeNames(field: string): boolean {
  return FREE_FIELDS.has(field) || !FIELD_NAMES.has(field)
}
