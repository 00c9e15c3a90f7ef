module pe_ws #(parameter SECOND = 0) (
    input clk,
    input signed [31:0] right_in, down_in, chain_in,
    input [3:0] control_in,
    output signed [31:0] right_out, down_out, chain_out,
    output [3:0] control_out
);
    reg signed [7:0] right = 0, stay = 0, spare = 0;
    reg signed [31:0] down = 0;
    reg [3:0] control = 0;
    wire shift = control_in[2];
    assign right_out = right, down_out = down, chain_out = stay, control_out = control;
    always @(posedge clk) control <= control_in;
    always @(posedge clk) begin
`line 1 "your cell" 0
%s
    end
endmodule
