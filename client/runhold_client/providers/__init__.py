"""Transcripts as the requests of model providers: Bedrock Converse, Anthropic Messages, OpenAI Responses.

The encoders write plain dicts and need none of the vendors' packages. Nothing is reordered, merged or dropped (empty
texts apart); what a provider cannot carry is an ``Unencodable`` that names the message, the part and the rule.
"""

from runhold_client.providers.anthropic import AnthropicRequest, encode_anthropic
from runhold_client.providers.bedrock import BedrockRequest, encode_bedrock
from runhold_client.providers.errors import Unencodable
from runhold_client.providers.openai import OpenAIRequest, encode_openai, reasoning_signature
from runhold_client.providers.prepare import PreparedRequest, Provider, prepare_request, validate_response

__all__ = [
    "AnthropicRequest",
    "BedrockRequest",
    "OpenAIRequest",
    "PreparedRequest",
    "Provider",
    "Unencodable",
    "encode_anthropic",
    "encode_bedrock",
    "encode_openai",
    "prepare_request",
    "reasoning_signature",
    "validate_response",
]
