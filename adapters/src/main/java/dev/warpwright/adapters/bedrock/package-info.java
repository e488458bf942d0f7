/** Amazon Bedrock: the Converse protocol. */
package dev.warpwright.adapters.bedrock;
